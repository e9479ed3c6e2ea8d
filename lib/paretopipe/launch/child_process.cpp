#include <paretopipe/core/control_descriptor.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/architecture.hpp>
#include <paretopipe/launch/child_process.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <span>
#include <sstream>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paretopipe::launch {

namespace {

std::vector<std::string> merged_environment(const ChildCommand& command) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& setting : command.environment) replaced = replaced || setting.first == name;
    if (!replaced) merged.emplace_back(text);
  }
  for (const auto& [name, value] : command.environment) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> as_pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (auto& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct ChildSetup {
  char* const* argv;
  char* const* environment;
  int control;
  int output;
  int failure;  ///< write end of a close-on-exec pipe
  pid_t parent;
  std::span<const int> namespaces;
  std::span<const int> cgroups;
  bool control_is_stdio;
};

/// Async-signal-safe. Writing 0 moves the process that writes it.
bool enter_cgroups(const ChildSetup& setup) {
  for (const int cgroup : setup.cgroups) {
    if (::write(cgroup, "0", 1) != 1) return false;
  }
  return true;
}

/// Async-signal-safe.
bool enter_namespaces(const ChildSetup& setup) {
  for (const int descriptor : setup.namespaces) {
    if (::setns(descriptor, 0) != 0) return false;
  }
  return true;
}

/// Async-signal-safe. Gives the child its standard streams and its control link. dup2 clears close-on-exec, except on a
/// descriptor that is already at its target: there it must be cleared explicitly.
bool take_streams(const ChildSetup& setup) {
  const int in = setup.control_is_stdio ? setup.control : ::open("/dev/null", O_RDONLY);
  const int out = setup.control_is_stdio ? setup.control : setup.output;
  if (::dup2(in, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0 || ::dup2(setup.output, STDERR_FILENO) < 0) {
    return false;
  }
  if (setup.control_is_stdio) return true;
  return (setup.control == kControlDescriptor ? ::fcntl(setup.control, F_SETFD, 0)
                                              : ::dup2(setup.control, kControlDescriptor)) >= 0;
}

/// Async-signal-safe.
[[noreturn]] void report_failure(const ChildSetup& setup) {
  const int reason = errno;
  [[maybe_unused]] const auto written = ::write(setup.failure, &reason, sizeof reason);
  ::_exit(127);
}

/// Runs between fork and exec, so it makes only async-signal-safe calls.
[[noreturn]] void become(const ChildSetup& setup) {
  ::setpgid(0, 0);
  // This must come before the program is loaded, because loading counts towards the limits. It needs the rights that
  // this process has outside of the namespaces.
  if (!enter_cgroups(setup)) report_failure(setup);
  // This must come before the death signal is set: entering a user namespace changes the credentials, and the kernel
  // then forgets the signal.
  if (!enter_namespaces(setup)) report_failure(setup);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != setup.parent) ::_exit(1);  // the parent died before the signal was set
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (take_streams(setup)) {
    // All other open descriptors (inherited from the shell, for instance) are closed for the child.
    ::syscall(SYS_close_range, setup.control_is_stdio ? kControlDescriptor : kControlDescriptor + 1, ~0U,
              CLOSE_RANGE_CLOEXEC);
    ::execve(setup.argv[0], setup.argv, setup.environment);
  }
  report_failure(setup);
}

/// The failure pipe must not be at the descriptor of the child's control link, or dup2 would close it.
void move_above_control(FileDescriptor& descriptor) {
  const int moved = ::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kControlDescriptor + 1);
  if (moved < 0) throw system_error("duplicate a descriptor", errno);
  descriptor = FileDescriptor(moved);
}

/// Returns false at the end of the stream: a successful exec closed the pipe.
bool read_whole(int descriptor, int& value) {
  ssize_t got = 0;
  do got = ::read(descriptor, &value, sizeof value);
  while (got < 0 && errno == EINTR);
  return got == sizeof value;
}

int reap(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// Ends the whole process group of `leader`, because the program may be a script around the real one. The leader may
/// have ended but must not have been reaped: otherwise its id could now be another group's.
int end_group(pid_t leader) {
  ::kill(-leader, SIGKILL);
  return reap(leader);
}

EnvironmentError cannot_start(const std::string& attempt, const std::string& program, int reason) {
  const auto built_for = reason == ENOEXEC ? architecture_of(program) : "";
  if (built_for.empty()) return system_error(attempt, reason);
  return EnvironmentError(fmt::format("{}: it is built for {}, and this machine is {}; use one that was built for {}",
                                      attempt, built_for, own_architecture(), own_architecture()));
}

std::string describe_status(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("exited with status {}", WEXITSTATUS(status));
}

}  // namespace

ChildProcess::ChildProcess(const ChildCommand& command, FileDescriptor control)
    : output_(::memfd_create("stage-output", MFD_CLOEXEC)) {
  const std::string attempt = fmt::format("start {}", command.argv.front());
  std::array<int, 2> pipe{};
  if (output_.get() < 0 || ::pipe2(pipe.data(), O_CLOEXEC) != 0) throw system_error(attempt, errno);
  FileDescriptor failure_read(pipe[0]);
  FileDescriptor failure_write(pipe[1]);
  for (auto* descriptor : {&failure_write, &output_, &control}) move_above_control(*descriptor);

  auto arguments = command.argv;
  auto environment = merged_environment(command);
  const auto argv = as_pointers(arguments);
  const auto envp = as_pointers(environment);
  const ChildSetup setup{argv.data(), envp.data(),        control.get(),   output_.get(),           failure_write.get(),
                         ::getpid(),  command.namespaces, command.cgroups, command.control_is_stdio};
  pid_ = ::fork();
  if (pid_ < 0) throw system_error(attempt, errno);
  if (pid_ == 0) become(setup);

  failure_write.reset();
  int reason = 0;
  if (read_whole(failure_read.get(), reason)) {
    reap(pid_);
    throw cannot_start(attempt, command.argv.front(), reason);
  }
  process_ = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      process_(std::move(other.process_)),
      output_(std::move(other.output_)),
      wait_status_(other.wait_status_) {}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) end(0);
}

std::optional<std::string> ChildProcess::how_it_ended() {
  if (!wait_status_) {
    siginfo_t ended{};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != pid_) {
      return std::nullopt;
    }
    wait_status_ = end_group(pid_);
  }
  return describe_status(*wait_status_);
}

std::string ChildProcess::end(int timeout_ms) {
  if (!wait_status_ && timeout_ms > 0) {
    pollfd ended{process_.get(), POLLIN, 0};
    while (::poll(&ended, 1, timeout_ms) < 0 && errno == EINTR) {
    }
  }
  if (!how_it_ended()) wait_status_ = end_group(pid_);
  return describe_status(*wait_status_);
}

bool ChildProcess::succeeded() {
  return how_it_ended() && WIFEXITED(*wait_status_) && WEXITSTATUS(*wait_status_) == 0;
}

std::size_t ChildProcess::output_size() const {
  struct stat status {};
  return ::fstat(output_.get(), &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

std::string ChildProcess::read_output(std::size_t at_most) const {
  const auto size = output_size();
  std::string text(std::min(size, at_most), '\0');
  const auto got = ::pread(output_.get(), text.data(), text.size(), static_cast<off_t>(size - text.size()));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

std::string ChildProcess::output() const {
  return read_output(std::string::npos);
}

std::string ChildProcess::last_output() const {
  constexpr std::size_t kTail = 2000;
  auto text = read_output(std::size_t{1} << 16);  // a guard's signs of life are empty lines
  const auto is_end = [](char letter) { return letter == '\n'; };
  const auto empty_lines =
      std::unique(text.begin(), text.end(), [&](char left, char right) { return is_end(left) && is_end(right); });
  text.erase(empty_lines, text.end());
  if (text.starts_with('\n')) text.erase(0, 1);
  if (text.ends_with('\n')) text.pop_back();
  return text.size() > kTail ? text.substr(text.size() - kTail) : text;
}

CommandResult run_command(const ChildCommand& command, int timeout_ms, FileDescriptor inherited) {
  if (inherited.get() < 0) inherited = FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (inherited.get() < 0) throw system_error("open /dev/null", errno);
  ChildProcess child(command, std::move(inherited));
  auto how_it_ended = child.end(timeout_ms);
  return {child.succeeded(), std::move(how_it_ended), child.output()};
}

std::filesystem::path find_program(const std::string& name, const std::string& package) {
  const char* path = std::getenv("PATH");
  std::istringstream folders((path != nullptr ? std::string(path) : std::string()) +
                             ":/usr/local/sbin:/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto program = std::filesystem::path(folder) / name;
    // An empty entry means the current folder, from which no program is started.
    if (!folder.empty() && ::access(program.c_str(), X_OK) == 0) return program;
  }
  throw EnvironmentError(
      package.empty() ? fmt::format("the program {} is not installed; install it, or name its path", name)
                      : fmt::format("the program {} is not installed; install the package {} (sudo apt-get install {})",
                                    name, package, package));
}

std::filesystem::path find_stage_program() {
  const char* chosen = std::getenv("PARETOPIPE_STAGE");
  const std::filesystem::path program =
      chosen != nullptr ? std::filesystem::path(chosen)
                        : std::filesystem::read_symlink("/proc/self/exe").parent_path() / "paretopipe-stage";
  if (::access(program.c_str(), X_OK) != 0 || std::filesystem::is_directory(program)) {
    throw EnvironmentError(
        fmt::format("the stage program is not at {}; build it (it needs LibTorch), or name another one in the "
                    "environment variable PARETOPIPE_STAGE",
                    program.string()));
  }
  return program;
}

}  // namespace paretopipe::launch
