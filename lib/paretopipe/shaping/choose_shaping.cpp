#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/choose_shaping.hpp>
#include <paretopipe/shaping/emulated/schedule.hpp>
#include <paretopipe/shaping/kernel/capabilities.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::shaping {

namespace {

using Profiles = std::span<const experiment::NetworkProfile>;

/// Why the kernel cannot do all of the profiles; none if it can.
std::optional<std::string> obstacle_to_netem(Profiles profiles) {
  const auto capabilities = find_capabilities();
  if (!capabilities.namespaces.works) return capabilities.namespaces.detail;
  for (const auto& profile : profiles) {
    const auto ability = can_shape(capabilities, profile);
    if (!ability.works) return fmt::format("the network {}: {}", profile.name, ability.detail);
  }
  return std::nullopt;
}

std::optional<std::string> obstacle_to_emulation(Profiles profiles) {
  for (const auto& profile : profiles) {
    for (const auto* conditions : {&profile.forward, &profile.backward}) {
      const auto sentences = unsupported(*conditions);
      if (!sentences.empty()) return fmt::format("the network {}: {}", profile.name, sentences.front());
    }
  }
  return std::nullopt;
}

ShapingChoice choose_automatically(Profiles profiles) {
  const auto shaped = [](const auto& profile) { return profile.shaped(); };
  if (std::none_of(profiles.begin(), profiles.end(), shaped)) return {experiment::Shaping::none, ""};
  const auto kernel = obstacle_to_netem(profiles);
  if (!kernel) return {experiment::Shaping::netem, ""};
  if (const auto relay = obstacle_to_emulation(profiles)) {
    throw EnvironmentError(
        fmt::format("this machine cannot shape as asked. With netem: {}. Emulated: {}", *kernel, *relay));
  }
  return {experiment::Shaping::emulated,
          fmt::format("the network is emulated, for the kernel cannot shape it here: {}", *kernel)};
}

}  // namespace

ShapingChoice choose_shaping(std::optional<experiment::Shaping> asked, Profiles profiles) {
  if (!asked) return choose_automatically(profiles);
  if (asked == experiment::Shaping::netem) {
    if (const auto obstacle = obstacle_to_netem(profiles)) throw EnvironmentError(*obstacle);
  }
  if (asked == experiment::Shaping::emulated) {
    if (const auto obstacle = obstacle_to_emulation(profiles)) throw UsageError(*obstacle);
  }
  return {*asked, ""};
}

}  // namespace paretopipe::shaping
