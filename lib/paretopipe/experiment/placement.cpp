#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/placement.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::experiment {

Placement parse_placement(const std::string& text) {
  if (auto placement = parse_numbers(text)) return *std::move(placement);
  throw UsageError(fmt::format("the placement is \"{}\"; it must be the device of each stage, such as 0,1,0", text));
}

std::string to_string(const Placement& placement) {
  return fmt::format("{}", fmt::join(placement, ","));
}

void check_placement(const Placement& placement, int stages) {
  if (placement.empty()) return;
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("experiment.placement is {}; {}", to_string(placement), why));
  };
  if (placement.size() != static_cast<std::size_t>(stages)) {
    refuse(fmt::format("it must name a device for each of the {} stages", stages));
  }
  if (placement.front() != 0) refuse("the first stage is the source, on device 0");
  if (*std::min_element(placement.begin(), placement.end()) < 0) refuse("devices are numbered from 0");
  for (int device = 0; device < *std::max_element(placement.begin(), placement.end()); ++device) {
    if (std::find(placement.begin(), placement.end(), device) == placement.end()) {
      refuse(fmt::format("no stage is on device {}; number the devices without a gap", device));
    }
  }
}

Placement simplified(const Placement& placement) {
  for (std::size_t stage = 0; stage < placement.size(); ++stage) {
    if (placement[stage] != static_cast<int>(stage)) return placement;
  }
  return {};
}

int device_of(const Placement& placement, int stage) {
  return placement.empty() ? stage : placement.at(static_cast<std::size_t>(stage));
}

int device_count(const Placement& placement, int stages) {
  return placement.empty() ? stages : 1 + *std::max_element(placement.begin(), placement.end());
}

int farthest_stage(const Placement& placement, int stages) {
  int farthest = 0;
  for (int stage = 0; stage < stages; ++stage) {
    if (device_of(placement, stage) >= device_of(placement, farthest)) farthest = stage;
  }
  return farthest;
}

Way way_between(const Placement& placement, int from, int to) {
  const int left = device_of(placement, from), right = device_of(placement, to);
  return left == right ? Way::within : left < right ? Way::forward : Way::backward;
}

NetworkProfile along(const NetworkProfile& profile, Way way) {
  switch (way) {
    case Way::forward:
      return profile;
    case Way::backward:
      return {profile.name, profile.backward, profile.forward};
    case Way::within:
      break;
  }
  return {profile.name, {}, {}};
}

}  // namespace paretopipe::experiment
