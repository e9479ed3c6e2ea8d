#pragma once
// Whoever includes this is linked with shaping/machine_state.cpp.
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/shaping/kernel/namespace_ring.hpp>

#include <array>
#include <cerrno>
#include <optional>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver_fixture.hpp"

namespace paretopipe::testing {

/// The built driver, started as from a shell in an empty folder, whose output can be read while it runs.
class RunningDriver {
 public:
  /// `networks`: whose first network it runs in; none: this process's.
  explicit RunningDriver(const Words& arguments, const shaping::NamespaceRing* networks = nullptr) {
    const auto pipe = folder_.path() / "output";
    if (::mkfifo(pipe.c_str(), 0600) != 0) throw system_error("make a pipe", errno);
    output_ = FileDescriptor(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    const auto inside = networks != nullptr ? entering(*networks) : Words("");
    program_.emplace(inside + "'" PARETOPIPE_BIN_DIR "/paretopipe'" + arguments, folder_.path(), pipe);
  }

  pid_t pid() const { return program_->pid(); }

  /// Reads on until the output has a whole line with `words`; all that was printed so far. Throws if that does not
  /// come within half a minute.
  std::string wait_for(const std::string& words) {
    const auto complete = [&] {
      const auto found = text_.find(words);
      return found != std::string::npos && text_.find('\n', found) != std::string::npos;
    };
    while (!complete()) {
      pollfd event{output_.get(), POLLIN, 0};
      if (::poll(&event, 1, 30'000) <= 0) throw std::runtime_error("the driver says nothing more than: " + text_);
      if (!read_more()) throw std::runtime_error("the driver ended, and had said: " + text_ + wait().errors);
    }
    return text_;
  }

  support::Outcome wait() {
    auto outcome = program_->wait();
    while (read_more()) {
    }
    outcome.output = text_;
    return outcome;
  }

 private:
  /// nsenter becomes the program that it starts, so that signals reach the driver.
  static Words entering(const shaping::NamespaceRing& networks) {
    const auto descriptors = networks.descriptors(0);
    const auto user =
        networks.unprivileged() ? fmt::format("--user=/proc/{}/fd/{}", ::getpid(), descriptors.front()) : "";
    return fmt::format("/usr/bin/nsenter --net=/proc/{}/fd/{} {} --", ::getpid(), descriptors.back(), user);
  }

  /// False where there is nothing to read.
  bool read_more() {
    std::array<char, 4096> buffer{};
    const auto got = ::read(output_.get(), buffer.data(), buffer.size());
    if (got > 0) text_.append(buffer.data(), static_cast<std::size_t>(got));
    return got > 0;
  }

  support::TemporaryFolder folder_;
  FileDescriptor output_;
  std::string text_;
  std::optional<support::Program> program_;
};

}  // namespace paretopipe::testing
