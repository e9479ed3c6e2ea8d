#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <support/processes.hpp>

namespace paretopipe::support {
namespace {

constexpr int kPatienceMs = 300'000;

/// The fourth field of /proc/PID/stat; the second one is a name in parentheses that may hold anything.
pid_t parent_of(const std::filesystem::path& process) {
  std::ifstream stream(process / "stat");
  std::string text;
  std::getline(stream, text);
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return -1;  // it has ended meanwhile
  return static_cast<pid_t>(std::stol(text.substr(name_end + 4)));
}

bool readable(int descriptor, int timeout_ms) {
  pollfd event{descriptor, POLLIN, 0};
  int ready = 0;
  do ready = ::poll(&event, 1, timeout_ms);
  while (ready < 0 && errno == EINTR);
  return ready > 0;
}

bool has_content(const std::filesystem::path& file) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(file, missing);
  return !missing && size > 0;
}

}  // namespace

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    const bool process = std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (process && parent_of(entry.path()) == parent) children.push_back(static_cast<pid_t>(std::stol(name)));
  }
  std::sort(children.begin(), children.end());
  return children;
}

std::vector<pid_t> own_children() {
  return children_of(::getpid());
}

std::size_t sockets_of(pid_t process) {
  std::size_t sockets = 0;
  std::error_code closed_meanwhile;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd")) {
    const auto target = std::filesystem::read_symlink(entry.path(), closed_meanwhile).string();
    sockets += target.starts_with("socket:") ? 1 : 0;
  }
  return sockets;
}

bool wait_for_more_sockets(pid_t process, std::size_t before, std::size_t more) {
  constexpr int kLookEveryMs = 10;
  int in_a_row = 0;
  for (int waited_ms = 0; waited_ms < kPatienceMs; waited_ms += kLookEveryMs) {
    in_a_row = sockets_of(process) >= before + more ? in_a_row + 1 : 0;
    if (in_a_row == 5) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(kLookEveryMs));
  }
  return false;
}

ProcessWatch::ProcessWatch(pid_t pid) : descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "watch process " + std::to_string(pid));
}

ProcessWatch::ProcessWatch(ProcessWatch&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

ProcessWatch::~ProcessWatch() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool ProcessWatch::ended() const {
  return readable(descriptor_, kPatienceMs);
}

std::vector<ProcessWatch> watch(const std::vector<pid_t>& pids) {
  std::vector<ProcessWatch> processes;
  for (const auto pid : pids) {
    try {
      processes.emplace_back(pid);
    } catch (const std::system_error& error) {  // it may have ended since it was listed
      if (error.code() != std::errc::no_such_process) throw;
    }
  }
  return processes;
}

bool all_ended(const std::vector<ProcessWatch>& processes) {
  return std::all_of(processes.begin(), processes.end(), [](const ProcessWatch& process) { return process.ended(); });
}

bool wait_until_written(const std::filesystem::path& file) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  const int events = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  ::inotify_add_watch(events, file.parent_path().c_str(), IN_CLOSE_WRITE | IN_MOVED_TO);
  // The watch stands before the first look, so nothing is missed.
  bool written = has_content(file);
  while (!written && std::chrono::steady_clock::now() < deadline && readable(events, kPatienceMs)) {
    std::array<char, 4096> dropped{};
    while (::read(events, dropped.data(), dropped.size()) > 0) {
    }
    written = has_content(file);
  }
  ::close(events);
  return written;
}

}  // namespace paretopipe::support
