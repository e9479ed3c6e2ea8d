#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/kernel/read_back.hpp>
#include <paretopipe/shaping/kernel/shaped_link.hpp>
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <algorithm>

namespace paretopipe::shaping {
namespace {

/// What tc says of a qdisc that the kernel does not have, in one version or another.
bool is_unknown_qdisc(const std::string& message) {
  return message.find("Specified qdisc") != std::string::npos || message.find("Unknown qdisc") != std::string::npos;
}

void apply_command(const NamespacePair& networks, std::size_t stage, const Command& command) {
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

ShapedEgress::ShapedEgress(const NamespacePair& networks, std::size_t stage, const config::LinkConditions& conditions)
    : networks_(networks), stage_(stage) {
  try {
    for (const auto& command : shape_commands(NamespacePair::interface(stage), conditions)) {
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
  } catch (const EnvironmentError&) {  // it goes with the namespace
  }
}

config::LinkConditions ShapedEgress::read_back() const {
  return shaping::read_back(networks_.run_in(stage_, show_command(NamespacePair::interface(stage_))));
}

void ShapedEgress::clear() {
  if (!applied_) return;
  applied_ = false;
  networks_.run_in(stage_, clear_command(NamespacePair::interface(stage_)));
}

ShapedLink::ShapedLink(const NamespacePair& networks, const config::NetworkProfile& profile)
    : profile_(profile), forward_(networks, 0, profile.forward), backward_(networks, 1, profile.backward) {}

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
