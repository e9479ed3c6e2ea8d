#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/launch/interrupt.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

namespace paretopipe::launch {

namespace {

// A signal handler can access only globals.
volatile std::sig_atomic_t g_requested = 0;
volatile std::sig_atomic_t g_event = -1;
struct sigaction g_former_interrupt {};
struct sigaction g_former_terminate {};

void on_signal(int) {
  const int saved = errno;
  g_requested = 1;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(g_event, &one, sizeof one);
  errno = saved;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  g_requested = 0;
  g_event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (g_event < 0) throw system_error("make an event descriptor for signals", errno);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second signal has its default effect
  ::sigaction(SIGINT, &action, &g_former_interrupt);
  ::sigaction(SIGTERM, &action, &g_former_terminate);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGINT, &g_former_interrupt, nullptr);
  ::sigaction(SIGTERM, &g_former_terminate, nullptr);
  ::close(g_event);
  g_event = -1;
}

int InterruptGuard::descriptor() const {
  return g_event;
}

bool InterruptGuard::requested() const {
  return g_requested != 0;
}

int poll_interruptibly(std::span<pollfd> events, Clock::time_point deadline, int interrupt_descriptor,
                       const std::string& attempt) {
  std::vector<pollfd> all(events.begin(), events.end());
  all.push_back({interrupt_descriptor, POLLIN, 0});
  for (;;) {
    const int ready = ::poll(all.data(), all.size(), poll_timeout(deadline));
    if (ready < 0 && errno != EINTR) throw system_error(attempt, errno);
    if (ready > 0 && all.back().revents != 0) throw Interrupted();
    if (ready > 0) break;
    if (ready == 0 && Clock::now() >= deadline) return 0;
  }
  std::copy_n(all.begin(), events.size(), events.begin());
  return static_cast<int>(std::ranges::count_if(events, [](const pollfd& event) { return event.revents != 0; }));
}

}  // namespace paretopipe::launch
