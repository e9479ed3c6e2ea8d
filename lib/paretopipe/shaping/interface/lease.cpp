#include <paretopipe/core/control_descriptor.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/interface/host_tc.hpp>
#include <paretopipe/shaping/interface/lease.hpp>

#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
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

pid_t start_keeper(std::vector<std::string> command, const launch::FileDescriptor& connection) {
  // Above the standard descriptors and the target, so that no step of the set-up closes it.
  const launch::FileDescriptor source(::fcntl(connection.get(), F_DUPFD_CLOEXEC, kControlDescriptor + 1));
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
  connection_ = launch::FileDescriptor(pair[0]);
  launch::FileDescriptor keepers(pair[1]);
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
  } catch (const EnvironmentError&) {  // callers who want to know call end()
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

}  // namespace paretopipe::shaping
