#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/kernel/read_back.hpp>
#include <paretopipe/shaping/kernel/shaped_link.hpp>
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <algorithm>

namespace paretopipe::shaping {
namespace {

/// The messages of tc, in different versions, for a qdisc that the kernel does not have.
bool is_unknown_qdisc(const std::string& message) {
  return message.find("Specified qdisc") != std::string::npos || message.find("Unknown qdisc") != std::string::npos;
}

void apply_command(const NamespaceRing& networks, std::size_t stage, const Command& command) {
  try {
    networks.run_in(stage, command);
  } catch (const EnvironmentError& error) {
    if (!is_unknown_qdisc(error.what())) throw;
    const bool netem = std::find(command.begin(), command.end(), "netem") != command.end();
    const char* module = netem ? "sch_netem" : "sch_tbf";
    throw EnvironmentError(
        fmt::format("this kernel has no {}: load its module (sudo modprobe {}), or use a kernel that has it ({})",
                    netem ? "netem" : "tbf", module, error.what()));
  }
}

}  // namespace

ShapedEgress::ShapedEgress(const NamespaceRing& networks, std::size_t stage, std::size_t peer,
                           const config::LinkConditions& conditions)
    : networks_(networks), stage_(stage), peer_(peer) {
  try {
    for (const auto& command : shape_commands(NamespaceRing::interface(peer), conditions)) {
      apply_command(networks, stage, command);
      applied_ = true;
    }
  } catch (...) {
    if (applied_) clear();  // the first of two qdiscs
    throw;
  }
}

ShapedEgress::~ShapedEgress() {
  try {
    clear();
  } catch (const EnvironmentError&) {  // it is removed with the namespace
  }
}

config::LinkConditions ShapedEgress::read_back() const {
  return shaping::read_back(networks_.run_in(stage_, show_command(NamespaceRing::interface(peer_))));
}

void ShapedEgress::clear() {
  if (!applied_) return;
  applied_ = false;
  networks_.run_in(stage_, clear_command(NamespaceRing::interface(peer_)));
}

ShapedLink::ShapedLink(const NamespaceRing& networks, const config::NetworkProfile& profile, std::size_t near,
                       std::size_t far)
    : profile_(profile),
      forward_(networks, near, far, profile.forward),
      backward_(networks, far, near, profile.backward) {}

config::NetworkProfile ShapedLink::read_back() const {
  return {profile_.name, forward_.read_back(), backward_.read_back()};
}

std::vector<std::string> ShapedLink::differences() const {
  const auto applied = read_back();
  std::vector<std::string> sentences;
  for (const auto& sentence : shaping::differences(profile_.forward, applied.forward)) {
    sentences.push_back("forward: " + sentence);
  }
  for (const auto& sentence : shaping::differences(profile_.backward, applied.backward)) {
    sentences.push_back("backward: " + sentence);
  }
  return sentences;
}

void ShapedLink::clear() {
  forward_.clear();
  backward_.clear();
}

}  // namespace paretopipe::shaping
