#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/shaping/emulated/emulated_link.hpp>
#include <paretopipe/shaping/probe/probe.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "connection.hpp"

namespace paretopipe::shaping {

namespace {

using namespace std::chrono_literals;

/// The pause when the process has no descriptor for another caller: all it can do is try again until some are free.
constexpr auto kPauseBeforeAccepting = 100ms;

void refuse_unsupported(const experiment::LinkConditions& forward, const experiment::LinkConditions& backward) {
  std::string refusals;
  for (const auto* conditions : {&forward, &backward}) {
    for (const auto& sentence : unsupported(*conditions)) {
      if (refusals.find(sentence) == std::string::npos) refusals += (refusals.empty() ? "" : " ") + sentence;
    }
  }
  if (!refusals.empty()) throw UsageError(refusals);
}

/// ppoll(2) until a moment, to the nanosecond. Returns early after a signal.
void wait_until(std::vector<pollfd>& waiting, Clock::time_point moment) {
  const auto now = Clock::now();
  // Compared before subtracting: time_point::max() means "never".
  const Nanoseconds rest = moment <= now ? 0ns : std::min<Nanoseconds>(moment - now, 1h);
  const timespec limit{static_cast<time_t>(rest.count() / 1'000'000'000),
                       static_cast<long>(rest.count() % 1'000'000'000)};
  if (::ppoll(waiting.data(), waiting.size(), &limit, nullptr) < 0) {
    if (errno != EINTR) throw system_error("wait for the sockets of an emulated link", errno);
    for (auto& entry : waiting) entry.revents = 0;
  }
}

/// What sched_setattr(2) takes, in its first version. Only newer C libraries declare it.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};

/// The calling thread stands for a network's hardware, which waits for no core: it runs as soon as it wakes up, before
/// the threads that compute. Without the right to that (root, or a limit on real-time priority), it asks the scheduler
/// for short turns that come soon, which Linux heeds since 6.12.
void run_before_others() {
  const sched_param lowest{.sched_priority = 1};
  if (::sched_setscheduler(0, SCHED_RR, &lowest) == 0) return;
  const SchedulingAttributes short_turns{.runtime_ns = 100'000};  // the least that Linux takes
  ::syscall(SYS_sched_setattr, 0, &short_turns, 0);
}

/// A thread that receives no signals of the process: they are for the threads that handle them.
template <class Body>
std::thread thread_without_signals(Body body) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(body));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

/// The thread and its data. One mutex protects everything; the thread releases it only while it waits, so a change is
/// in force when the call that made it returns.
class EmulatedLink::Relay {
 public:
  Relay(const std::string& listen_address, const EmulatedConditions& conditions)
      : listener_(listen_address, {}), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), conditions_(conditions) {
    if (wake_.get() < 0) throw system_error("make an emulated link's wake-up descriptor (eventfd)", errno);
    thread_ = thread_without_signals([this] { run(); });
  }

  ~Relay() {
    change([this] { stop_ = true; });
    thread_.join();
  }

  std::uint16_t port() const { return listener_.port(); }

  void lead_to(EmulatedTarget target) {
    change([&] { target_ = std::move(target); });
  }

  void set_conditions(const EmulatedConditions& conditions) {
    change([&] {
      conditions_ = conditions;
      for (auto& connection : connections_) connection.set_conditions(conditions);
    });
  }

  void watch_lateness(Nanoseconds tolerance) {
    change([&] { lateness_ = LatenessMeter(tolerance); });
  }

  LatenessMeter lateness() const {
    const std::lock_guard lock(mutex_);
    return lateness_;
  }

  std::string last_problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
  }

 private:
  template <class Change>
  void change(Change make) {
    const std::lock_guard lock(mutex_);
    make();
    const std::uint64_t one = 1;
    // Fails only if the counter is at its end; the thread is then awake anyway.
    [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof(one));
  }

  void run();
  void relay_until_stopped();
  void wait(std::unique_lock<std::mutex>& lock);
  void accept_callers();
  void connect_callers();
  void advance();

  wire::Listener listener_;
  FileDescriptor wake_;
  mutable std::mutex mutex_;
  EmulatedConditions conditions_;
  std::optional<EmulatedTarget> target_;
  std::list<EmulatedConnection> connections_;
  std::uint64_t connections_so_far_ = 0;
  LatenessMeter lateness_{tolerance_of(Nanoseconds(0))};
  std::vector<pollfd> waiting_;      ///< the wake-up, the listener, then two for every connection
  Clock::time_point accept_from_{};  ///< the earliest time for the next accept
  std::string problem_;
  bool stop_ = false;
  std::thread thread_;
};

/// The thread's main function. It catches every exception, because no caller could. It then closes all connections,
/// which both sides notice.
void EmulatedLink::Relay::run() {
  ::prctl(PR_SET_NAME, "emulated-link");
  // Otherwise the kernel extends waits by 50 us to save power.
  ::prctl(PR_SET_TIMERSLACK, 1);
  run_before_others();
  try {
    relay_until_stopped();
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    problem_ = fmt::format("an emulated link had to give up: {}", error.what());
    connections_.clear();
  }
}

void EmulatedLink::Relay::relay_until_stopped() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    wait(lock);
    advance();
    if ((waiting_[1].revents & POLLIN) != 0) accept_callers();
    connect_callers();
  }
}

void EmulatedLink::Relay::wait(std::unique_lock<std::mutex>& lock) {
  const bool accepting = Clock::now() >= accept_from_;
  auto moment = accepting ? Clock::time_point::max() : accept_from_;
  waiting_.assign({pollfd{wake_.get(), POLLIN, 0}, pollfd{accepting ? listener_.native_handle() : -1, POLLIN, 0}});
  for (const auto& connection : connections_) {
    const auto sockets = connection.waits_for();
    waiting_.insert(waiting_.end(), sockets.begin(), sockets.end());
    moment = std::min(moment, connection.next_due());
  }
  lock.unlock();
  wait_until(waiting_, moment);
  lock.lock();
  if (waiting_.front().revents != 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto emptied = ::read(wake_.get(), &count, sizeof(count));
  }
}

/// Takes connections in the order of wait()'s list, which still holds: only this thread adds or removes connections.
void EmulatedLink::Relay::advance() {
  std::size_t place = 2;
  for (auto& connection : connections_) {
    connection.advance(std::span(waiting_).subspan(place).first<2>(), lateness_);
    place += 2;
    if (!connection.failure().empty()) problem_ = connection.failure();
  }
  connections_.remove_if([](const auto& connection) { return connection.over(); });
}

void EmulatedLink::Relay::accept_callers() {
  for (;;) {
    FileDescriptor caller(::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (caller.get() >= 0) {
      connections_.emplace_back(std::move(caller), conditions_, connections_so_far_++);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      problem_ = system_error("accept a connection on the emulated link at " + listener_.name(), errno).what();
      accept_from_ = Clock::now() + kPauseBeforeAccepting;
      return;
    }
    // Any other error (ECONNABORTED, a network error) ends only that connection: see accept(2).
  }
}

void EmulatedLink::Relay::connect_callers() {
  if (!target_) return;
  for (auto& connection : connections_) {
    if (!connection.has_target() && !connection.over()) connection.connect_to(*target_);
    if (!connection.failure().empty()) problem_ = connection.failure();
  }
  connections_.remove_if([](const auto& connection) { return connection.over(); });
}

EmulatedLink::EmulatedLink(const std::string& listen_address, const experiment::LinkConditions& forward,
                           const experiment::LinkConditions& backward, std::uint64_t seed) {
  refuse_unsupported(forward, backward);
  relay_ = std::make_unique<Relay>(listen_address, EmulatedConditions{forward, backward, seed});
}

EmulatedLink::~EmulatedLink() = default;

std::uint16_t EmulatedLink::port() const {
  return relay_->port();
}

void EmulatedLink::lead_to(const std::string& address, std::uint16_t port) {
  relay_->lead_to(find_target(address, port));
}

void EmulatedLink::set_conditions(const experiment::LinkConditions& forward, const experiment::LinkConditions& backward,
                                  std::uint64_t seed) {
  refuse_unsupported(forward, backward);
  relay_->set_conditions({forward, backward, seed});
}

void EmulatedLink::watch_lateness(Nanoseconds tolerance) {
  relay_->watch_lateness(tolerance);
}

LatenessMeter EmulatedLink::lateness() const {
  return relay_->lateness();
}

std::string EmulatedLink::last_problem() const {
  return relay_->last_problem();
}

}  // namespace paretopipe::shaping
