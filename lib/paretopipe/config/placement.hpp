#pragma once
#include <paretopipe/config/network_profile.hpp>

#include <string>
#include <vector>

namespace paretopipe::config {

/// The device of each stage, numbered from 0, the source's. Empty: every stage is on a device of its own, {0, 1, 2, …}.
using Placement = std::vector<int>;

/// "0,1,0". Throws UsageError for anything else.
Placement parse_placement(const std::string& text);
std::string to_string(const Placement& placement);

/// Throws UsageError unless it is empty, or names a device for each of `stages`, of which the first is 0 and none is
/// left out.
void check_placement(const Placement& placement, int stages);

/// Empty where it says what an empty one says.
Placement simplified(const Placement& placement);

int device_of(const Placement& placement, int stage);
int device_count(const Placement& placement, int stages);

/// The last stage of the device with the highest number: the last one, unless something else is placed there.
int farthest_stage(const Placement& placement, int stages);

/// Where the link from one stage to another leads: nowhere (both are on one device), away from the source, or back
/// towards it.
enum class Way { within, forward, backward };
Way way_between(const Placement& placement, int from, int to);

/// What a link that leads there does to what passes it: `profile`, the same with its directions swapped, or nothing.
NetworkProfile along(const NetworkProfile& profile, Way way);

}  // namespace paretopipe::config
