#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/launch/interrupt.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <support/catch.hpp>

#include "shell_child.hpp"

using namespace paretopipe::testing;
using namespace std::chrono_literals;
using paretopipe::Clock;
using paretopipe::Interrupted;
using paretopipe::launch::InterruptGuard;
using paretopipe::launch::poll_interruptibly;

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

/// What can be read from, and written to.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    out = paretopipe::FileDescriptor(ends[0]);
    in = paretopipe::FileDescriptor(ends[1]);
  }
  void fill() const { REQUIRE(::write(in.get(), "x", 1) == 1); }
  pollfd readable() const { return {out.get(), POLLIN, 0}; }

  paretopipe::FileDescriptor out;
  paretopipe::FileDescriptor in;
};

}  // namespace

TEST_CASE("a signal is a descriptor to poll on instead of an end, and a second one has its default effect") {
  const int signal = GENERATE(SIGINT, SIGTERM);
  const OwnHandler before(signal);
  const InterruptGuard guard;
  CHECK_FALSE(guard.requested());
  CHECK_FALSE(readable(guard.descriptor()));
  CHECK((::fcntl(guard.descriptor(), F_GETFD) & FD_CLOEXEC) != 0);  // no child gets it
  errno = ENOSPC;
  std::raise(signal);
  CHECK(errno == ENOSPC);  // as a system call that was interrupted left it
  CHECK(guard.requested());
  CHECK(readable(guard.descriptor()));
  CHECK(readable(guard.descriptor()));  // until somebody reads it
  CHECK(g_own_handler_calls == 0);
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

TEST_CASE("a wait ends with what it waits for, and says which of it that was") {
  const Pipe silent;
  const Pipe full;
  full.fill();
  std::array events{silent.readable(), full.readable()};
  const InterruptGuard guard;
  for (const int interrupt : {-1, guard.descriptor()}) {
    CHECK(poll_interruptibly(events, Clock::time_point::max(), interrupt, "wait") == 1);
    CHECK(events[0].revents == 0);
    CHECK(events[1].revents == POLLIN);
  }
}

TEST_CASE("a wait for nothing ends at its deadline and not before, also one that is over already") {
  const Pipe silent;
  std::array events{silent.readable()};
  for (const auto patience : {-1h, 0h}) CHECK(poll_interruptibly(events, Clock::now() + patience, -1, "wait") == 0);
  const auto deadline = Clock::now() + 20ms;
  CHECK(poll_interruptibly(events, deadline, -1, "wait") == 0);
  CHECK(Clock::now() >= deadline);
}

TEST_CASE("a person ends a wait, before it has begun or in its midst, even if there is something to do") {
  const OwnHandler before(SIGINT);
  const InterruptGuard guard;
  const Pipe pipe;
  std::array events{pipe.readable()};
  const auto wait = [&] { poll_interruptibly(events, Clock::time_point::max(), guard.descriptor(), "wait"); };
  SECTION("before") {
    std::raise(SIGINT);
  }
  SECTION("with something to read") {
    pipe.fill();
    std::raise(SIGINT);
  }
  std::thread person;
  SECTION("in its midst") {
    // The handler runs in the waiting thread, so the kernel interrupts its poll, too.
    person = std::thread([waiting = ::pthread_self()] { ::pthread_kill(waiting, SIGINT); });
  }
  CHECK_THROWS_AS(wait(), Interrupted);
  if (person.joinable()) person.join();
}

TEST_CASE("a signal that is no interruption does not end a wait") {
  const OwnHandler other(SIGUSR1);
  const Pipe silent;
  std::array events{silent.readable()};
  const auto deadline = Clock::now() + 50ms;
  std::thread stranger([waiting = ::pthread_self()] { ::pthread_kill(waiting, SIGUSR1); });
  CHECK(poll_interruptibly(events, deadline, -1, "wait") == 0);
  CHECK(Clock::now() >= deadline);
  stranger.join();
  CHECK(g_own_handler_calls == 1);
}
