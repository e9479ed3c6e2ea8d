#include <paretopipe/core/control_descriptor.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/shaping/interface/lease.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/ranges.h>
#include <spawn.h>

namespace paretopipe::shaping {

namespace {

/// Each of a handful of commands ends within ten seconds.
constexpr int kPatienceMs = 120'000;

/// The attributes of a process to start.
class SpawnSettings {
 public:
  /// A session of its own, no signal blocked, nothing open but `connection`.
  explicit SpawnSettings(int connection) {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_init(&actions_);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    ::posix_spawn_file_actions_addchdir_np(&actions_, "/");  // the process must not keep a disk from being unmounted
    ::posix_spawn_file_actions_adddup2(&actions_, connection, kControlDescriptor);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, kControlDescriptor + 1);
  }
  ~SpawnSettings() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawnattr_t* attributes() const { return &attributes_; }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t actions_{};
};

pid_t start_keeper(std::vector<std::string> command, const FileDescriptor& connection) {
  // Above the standard descriptors and the target, so that no step of the set-up closes it.
  const FileDescriptor source(::fcntl(connection.get(), F_DUPFD_CLOEXEC, kControlDescriptor + 1));
  if (source.get() < 0) throw system_error("duplicate a descriptor", errno);
  const SpawnSettings settings(source.get());
  std::vector<char*> argv;
  for (auto& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t started = -1;
  const int failure =
      ::posix_spawn(&started, argv.front(), settings.actions(), settings.attributes(), argv.data(), environ);
  if (failure != 0) throw system_error("start the keeper of a lease: " + command.front(), failure);
  return started;
}

void reap(pid_t child) {
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Lease::Lease(const std::vector<std::string>& keeper, const LeaseTerms& terms) : terms_(terms) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    throw system_error("make a connection to the keeper of a lease", errno);
  }
  connection_ = FileDescriptor(pair[0]);
  FileDescriptor keepers(pair[1]);
  keeper_ = start_keeper(keeper, keepers);
  keepers.reset();
  const auto text = nlohmann::json(terms).dump();
  ::send(connection_.get(), text.data(), text.size(), MSG_NOSIGNAL);
  const auto answer = receive(kPatienceMs);
  const auto json = nlohmann::json::parse(answer.value_or("{}"), nullptr, false);
  if (json.is_object() && json.contains("applied")) {
    applied_ = json.value("applied", "");
    return;
  }
  ended_ = true;
  if (!answer) ::kill(keeper_, SIGKILL);  // if it exists at all, it hangs
  connection_.reset();
  reap(keeper_);
  if (!answer) clear_leftovers(terms.interface);
  throw EnvironmentError(json.is_object() ? json.value("error", "the keeper of a lease was killed")
                                          : "the keeper of a lease made no sense");
}

Lease::~Lease() {
  try {
    if (!ended_) end();
  } catch (const EnvironmentError&) {  // callers who want to know of errors call end()
  }
}

std::optional<std::string> Lease::receive(int timeout_ms) const {
  pollfd event{connection_.get(), POLLIN, 0};
  int ready = 0;
  do ready = ::poll(&event, 1, timeout_ms);
  while (ready < 0 && errno == EINTR);
  std::string text(kLargestLeaseMessage, '\0');
  const auto got = ready > 0 ? ::recv(connection_.get(), text.data(), text.size(), MSG_DONTWAIT) : -1;
  if (got <= 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(got));
  return text;
}

LeaseOutcome Lease::end() {
  ended_ = true;
  ::shutdown(connection_.get(), SHUT_WR);
  const auto message = receive(kPatienceMs);
  connection_.reset();
  if (!message) {
    ::kill(keeper_, SIGKILL);  // if it exists at all, it hangs
    reap(keeper_);
    return {LeaseEnd::keeper_killed, clear_leftovers(terms_.interface)};
  }
  reap(keeper_);
  const auto json = nlohmann::json::parse(*message, nullptr, false);
  if (json.is_object() && json.contains("end")) return json.get<LeaseOutcome>();
  const auto why = json.is_object() ? json.value("error", "") : *message;
  throw EnvironmentError(fmt::format("remove what was applied to {}: {}; remove it by hand: {}", terms_.interface, why,
                                     fmt::join(terms_.plan.undo, " ")));
}

namespace {

/// Allows one lease per interface: otherwise the end of the first could remove what the second has added. The name is
/// an abstract one: each network namespace has its own, and it is free as soon as the keeper is gone.
FileDescriptor lock_interface(const std::string& interface) {
  FileDescriptor lock(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (lock.get() < 0) throw system_error("make a socket to lock an interface with", errno);
  const std::string name = "paretopipe-lease/" + interface;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(&address.sun_path[1], name.data(), std::min(name.size(), sizeof address.sun_path - 1));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(lock.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0) return lock;
  if (errno != EADDRINUSE) throw system_error("lock the interface " + interface, errno);
  throw EnvironmentError(
      fmt::format("another `paretopipe net apply` runs on {}, or another sweep with --shaping netem shapes it; end it "
                  "first (Ctrl-C)",
                  interface));
}

void tell(int connection, const nlohmann::json& message) {
  // A program's output need not be UTF-8.
  const auto text = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  [[maybe_unused]] const auto sent = ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);  // it may be gone
}

LeaseTerms receive_terms(int connection) {
  std::string text(kLargestLeaseMessage, '\0');
  ssize_t got = 0;
  do got = ::recv(connection, text.data(), text.size(), 0);
  while (got < 0 && errno == EINTR);
  if (got < 0) throw system_error("hear the terms of a lease", errno);
  text.resize(static_cast<std::size_t>(got));
  try {
    return nlohmann::json::parse(text).get<LeaseTerms>();
  } catch (const nlohmann::json::exception& error) {
    throw EnvironmentError(fmt::format("hear the terms of a lease: {}", error.what()));
  }
}

/// Applies all of it or nothing. Returns what tc then shows.
std::string apply(const LeaseTerms& terms) {
  refuse_foreign_root(terms.interface);
  // tc adds a root qdisc only if there is none but the kernel's, so one that somebody adds in between is not lost.
  run_tc(terms.plan.apply.front());
  try {
    for (std::size_t index = 1; index < terms.plan.apply.size(); ++index) run_tc(terms.plan.apply[index]);
    return run_tc(show_command(terms.interface));
  } catch (const EnvironmentError& cause) {
    try {
      run_tc(terms.plan.undo);
    } catch (const EnvironmentError& left) {
      throw EnvironmentError(
          fmt::format("{}; what was applied before could not be removed: {}", cause.what(), left.what()));
    }
    throw;
  }
}

LeaseEnd wait_for_end(int connection, const launch::InterruptGuard& interrupt, Clock::time_point deadline) {
  for (;;) {
    if (Clock::now() >= deadline) return LeaseEnd::expired;
    std::array events{pollfd{connection, POLLIN, 0}, pollfd{interrupt.descriptor(), POLLIN, 0}};
    const int ready = ::poll(events.data(), events.size(), poll_timeout(deadline));
    if (ready < 0 && errno != EINTR) return LeaseEnd::keeper_interrupted;
    if (ready > 0 && events[0].revents != 0) return LeaseEnd::released;
    if (interrupt.requested()) return LeaseEnd::keeper_interrupted;
  }
}

}  // namespace

void keep_lease(FileDescriptor connection) {
  const launch::InterruptGuard interrupt;
  try {
    const auto terms = receive_terms(connection.get());
    const auto lock = lock_interface(terms.interface);
    tell(connection.get(), {{"applied", apply(terms)}});
    const auto end = wait_for_end(connection.get(), interrupt, Clock::now() + terms.duration);
    tell(connection.get(), LeaseOutcome{end, clear_leftovers(terms.interface)});
  } catch (const EnvironmentError& error) {
    tell(connection.get(), {{"error", error.what()}});
  }
}

void to_json(nlohmann::json& json, const LeaseTerms& terms) {
  json = {{"interface", terms.interface},
          {"apply", terms.plan.apply},
          {"undo", terms.plan.undo},
          {"duration_ns", terms.duration.count()}};
}

void from_json(const nlohmann::json& json, LeaseTerms& terms) {
  json.at("interface").get_to(terms.interface);
  json.at("apply").get_to(terms.plan.apply);
  json.at("undo").get_to(terms.plan.undo);
  terms.duration = Nanoseconds(json.at("duration_ns").get<std::int64_t>());
}

bool clear_leftovers(const std::string& interface) {
  const auto ours = [&] { return root_qdisc(run_tc(show_command(interface))).owner == RootOwner::paretopipe; };
  if (!ours()) return false;
  try {
    run_tc(undo_command(interface));
  } catch (const EnvironmentError&) {
    if (ours()) throw;
    return false;  // somebody was faster
  }
  return true;
}

void refuse_foreign_root(const std::string& interface) {
  const auto root = root_qdisc(run_tc(show_command(interface)));
  if (root.owner == RootOwner::paretopipe) {
    throw EnvironmentError(fmt::format(
        "{0} carries what an earlier `paretopipe net apply` added; remove it with `paretopipe net clear --interface "
        "{0}`",
        interface));
  }
  if (root.owner == RootOwner::somebody) {
    throw EnvironmentError(fmt::format(
        "{0} has a root qdisc that somebody made ({1}), which would be lost; it was left alone. Remove it first if "
        "nobody needs it: tc qdisc del dev {0} root",
        interface, root.name));
  }
}

}  // namespace paretopipe::shaping
