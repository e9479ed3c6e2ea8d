#pragma once
#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/child_process.hpp>

#include <array>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace paretopipe::testing {

/// Longer than any test takes.
inline constexpr int kPatienceMs = 30'000;

inline bool is_open(int descriptor) {
  return ::fcntl(descriptor, F_GETFD) >= 0;
}

inline std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

/// Both ends of a stream that goes in both directions.
inline std::pair<FileDescriptor, FileDescriptor> socket_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw system_error("make a socketpair", errno);
  }
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

/// A shell that runs `script`, whose descriptor 3 is its control link.
class ShellChild {
 public:
  explicit ShellChild(const std::string& script, std::vector<std::pair<std::string, std::string>> environment = {})
      : ShellChild(script, std::move(environment), socket_pair()) {}

  launch::ChildProcess& process() { return process_; }

  void say(const std::string& text) {
    if (::write(control_.get(), text.data(), text.size()) < 0) throw system_error("write to a child", errno);
  }
  void hang_up() { control_.reset(); }

  /// One line that the child writes to its control link; empty at the end of the stream.
  std::string hear() {
    std::string line;
    for (char c = 0; ::read(control_.get(), &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }

  /// What it printed by the time it ended.
  std::string output_at_end() {
    process_.end(kPatienceMs);
    return process_.last_output();
  }

 private:
  ShellChild(const std::string& script, std::vector<std::pair<std::string, std::string>> environment,
             std::pair<FileDescriptor, FileDescriptor> ends)
      : control_(std::move(ends.first)),
        process_({{"/bin/sh", "-c", script}, std::move(environment)}, std::move(ends.second)) {}

  FileDescriptor control_;
  launch::ChildProcess process_;
};

}  // namespace paretopipe::testing
