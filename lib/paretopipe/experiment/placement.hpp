#pragma once
#include <paretopipe/experiment/network_profile.hpp>

#include <string>
#include <vector>

namespace paretopipe::experiment {

/// The device of each stage, numbered from 0, which is the source's. Empty: every stage has a device of its own, {0, 1,
/// 2, …}.
using Placement = std::vector<int>;

/// Parses "0,1,0". Throws UsageError for anything else.
Placement parse_placement(const std::string& text);
std::string to_string(const Placement& placement);

/// Throws UsageError unless the placement is empty, or names a device for each of `stages`, begins with device 0 and
/// skips no number.
void check_placement(const Placement& placement, int stages);

/// The placement, or an empty one if that means the same.
Placement simplified(const Placement& placement);

int device_of(const Placement& placement, int stage);
int device_count(const Placement& placement, int stages);

/// The last stage of the device with the highest number. Without a placement, it is the last stage.
int farthest_stage(const Placement& placement, int stages);

/// The direction of the link from one stage to another: within one device, away from the source, or back towards it.
enum class Way { within, forward, backward };
Way way_between(const Placement& placement, int from, int to);

/// What a link in this direction does to what passes it: `profile`, `profile` with its directions swapped, or nothing.
NetworkProfile along(const NetworkProfile& profile, Way way);

}  // namespace paretopipe::experiment
