#include <paretopipe/launch/interrupt.hpp>

#include <csignal>
#include <optional>

#include <poll.h>

#include <support/catch.hpp>

#include "shell_child.hpp"

using namespace paretopipe::testing;
using paretopipe::launch::InterruptGuard;

namespace {

bool readable(int descriptor) {
  pollfd event{descriptor, POLLIN, 0};
  return ::poll(&event, 1, 0) == 1;
}

volatile std::sig_atomic_t g_own_handler_calls = 0;

/// A handler that was there before.
class OwnHandler {
 public:
  explicit OwnHandler(int signal) : signal_(signal) {
    g_own_handler_calls = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { g_own_handler_calls = g_own_handler_calls + 1; };
    ::sigaction(signal, &action, &former_);
  }
  ~OwnHandler() { ::sigaction(signal_, &former_, nullptr); }
  OwnHandler(const OwnHandler&) = delete;
  OwnHandler& operator=(const OwnHandler&) = delete;

 private:
  int signal_;
  struct sigaction former_ {};
};

}  // namespace

TEST_CASE("a signal is a descriptor to poll on instead of an end") {
  const int signal = GENERATE(SIGINT, SIGTERM);
  const OwnHandler before(signal);
  const InterruptGuard guard;
  CHECK_FALSE(guard.requested());
  CHECK_FALSE(readable(guard.descriptor()));
  std::raise(signal);
  CHECK(guard.requested());
  CHECK(readable(guard.descriptor()));
  CHECK(readable(guard.descriptor()));  // until somebody reads it
  CHECK(g_own_handler_calls == 0);
}

TEST_CASE("a second signal has its default effect") {
  const int signal = GENERATE(SIGINT, SIGTERM);
  const OwnHandler before(signal);
  const InterruptGuard guard;
  std::raise(signal);
  struct sigaction action {};
  REQUIRE(::sigaction(signal, nullptr, &action) == 0);
  CHECK(action.sa_handler == SIG_DFL);
}

TEST_CASE("the former behaviour returns with the guard's end, signal or not") {
  const int signal = GENERATE(SIGINT, SIGTERM);
  const bool interrupted = GENERATE(false, true);
  const OwnHandler before(signal);
  const auto descriptors = open_descriptors();
  {
    const InterruptGuard guard;
    if (interrupted) std::raise(signal);
  }
  CHECK(g_own_handler_calls == 0);
  std::raise(signal);
  CHECK(g_own_handler_calls == 1);
  CHECK(open_descriptors() == descriptors);
}

TEST_CASE("a guard after an interrupted one starts anew") {
  const OwnHandler before(SIGINT);
  for (int i = 0; i < 2; ++i) {
    const InterruptGuard guard;
    CHECK_FALSE(guard.requested());
    CHECK_FALSE(readable(guard.descriptor()));
    std::raise(SIGINT);
    CHECK(guard.requested());
  }
}

TEST_CASE("a system call under way that a signal interrupts leaves errno to its caller") {
  const OwnHandler before(SIGINT);
  const InterruptGuard guard;
  errno = ENOSPC;
  std::raise(SIGINT);
  CHECK(errno == ENOSPC);
}

TEST_CASE("a child does not get the guard's descriptor") {
  const InterruptGuard guard;
  CHECK((::fcntl(guard.descriptor(), F_GETFD) & FD_CLOEXEC) != 0);
}
