#pragma once
// Links and commands in the words of these tests.
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::shaping {

inline experiment::LinkConditions delayed_link(Nanoseconds delay) {
  experiment::LinkConditions conditions;
  conditions.delay = delay;
  return conditions;
}

inline experiment::LinkConditions paced_link(std::int64_t rate_bit_per_s, Nanoseconds delay = Nanoseconds(0)) {
  auto conditions = delayed_link(delay);
  conditions.rate_bit_per_s = rate_bit_per_s;
  return conditions;
}

using Lines = std::vector<std::string>;

/// The commands as a person would type them.
inline Lines as_typed(const std::vector<Command>& commands) {
  Lines typed;
  for (const auto& command : commands) typed.push_back(fmt::format("{}", fmt::join(command, " ")));
  return typed;
}

}  // namespace paretopipe::shaping
