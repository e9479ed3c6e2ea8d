#include "net_fixture.hpp"

#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/interface/peer_shaping.hpp>

#include <array>
#include <cerrno>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <support/catch.hpp>

#include "shaping/machine_state.hpp"

namespace paretopipe::testing {
namespace {

constexpr int kPatienceMs = 30'000;

/// nsenter becomes the program that it starts, so that signals reach the driver.
Words entering(const shaping::NamespaceRing& networks) {
  const auto path = [](int descriptor) { return fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor); };
  const auto descriptors = networks.descriptors(0);
  Words words{"/usr/bin/nsenter", "--net=" + path(descriptors.back())};
  if (networks.unprivileged()) words.push_back("--user=" + path(descriptors.front()));
  words.push_back("--");
  return words;
}

}  // namespace

RunningDriver::RunningDriver(const Words& arguments, const shaping::NamespaceRing* networks) {
  const auto pipe = folder_.path() / "output";
  if (::mkfifo(pipe.c_str(), 0600) != 0) throw system_error("make a pipe", errno);
  output_ = launch::FileDescriptor(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  auto argv = networks != nullptr ? entering(*networks) : Words{};
  argv.push_back(std::string(PARETOPIPE_BIN_DIR) + "/paretopipe");
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  program_.emplace(argv, folder_.path(), pipe);
}

bool RunningDriver::read_more() {
  pollfd event{output_.get(), POLLIN, 0};
  if (::poll(&event, 1, kPatienceMs) <= 0) throw std::runtime_error("the driver says nothing more than: " + text_);
  std::array<char, 4096> buffer{};
  const auto got = ::read(output_.get(), buffer.data(), buffer.size());
  if (got > 0) text_.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

std::string RunningDriver::wait_for(const std::string& words) {
  const auto complete = [&] {
    const auto found = text_.find(words);
    return found != std::string::npos && text_.find('\n', found) != std::string::npos;
  };
  while (!complete()) {
    if (!read_more()) throw std::runtime_error("the driver ended, and had said: " + text_ + wait().errors);
  }
  return text_;
}

support::Outcome RunningDriver::wait() {
  auto outcome = program_->wait();
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = ::read(output_.get(), buffer.data(), buffer.size())) > 0;) {
    text_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  outcome.output = text_;
  return outcome;
}

support::Outcome run_driver(const Words& arguments, const shaping::NamespaceRing* networks) {
  return RunningDriver(arguments, networks).wait();
}

void need_peer_shaping() {
  static const shaping::Ability ability = [] {
    if (!support::capabilities().tbf.works) return support::capabilities().tbf;
    try {
      const shaping::NamespaceRing networks;
      experiment::LinkConditions paced;
      paced.rate_bit_per_s = 1'000'000;
      const shaping::PeerTarget target{shaping::NamespaceRing::interface(1), "10.0.0.2", 5000};
      for (const auto& command : plan_peer_shaping(target, paced).apply) networks.run_in(0, command);
      return shaping::Ability{true, ""};
    } catch (const EnvironmentError& error) {
      return shaping::Ability{false, error.what()};
    }
  }();
  support::need(ability);
}

Words split(const std::string& line) {
  std::istringstream stream(line);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace paretopipe::testing
