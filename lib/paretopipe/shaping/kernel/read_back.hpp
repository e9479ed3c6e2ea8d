#pragma once
#include <paretopipe/config/network_profile.hpp>

#include <string>
#include <vector>

namespace paretopipe::shaping {

/// The conditions applied to an egress, from the output of `tc -j qdisc show dev X`. Qdiscs that the kernel creates by
/// itself (noqueue, pfifo_fast, fq_codel …) shape nothing. The kernel does not report a delay's distribution: it reads
/// back as uniform. Throws EnvironmentError for anything but such JSON, and for a qdisc that shapes but is not ours.
config::LinkConditions read_back(const std::string& tc_json);

/// Sentences on differences between the applied and the requested conditions; empty if there are none. Values left to
/// us (burst, queues) and the distribution, which cannot be read, are not compared. Tolerances are the rounding of tc
/// and the kernel: 2 us and 0.1 % of times, 0.1 % of rates and probabilities, what the rate delivers in 2 us for
/// bursts, and one frame's time in the queue.
std::vector<std::string> differences(const config::LinkConditions& requested, const config::LinkConditions& applied);

}  // namespace paretopipe::shaping
