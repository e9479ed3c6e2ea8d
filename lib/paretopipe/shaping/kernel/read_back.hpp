#pragma once
#include <paretopipe/config/network_profile.hpp>

#include <string>
#include <vector>

namespace paretopipe::shaping {

/// What `tc -j qdisc show dev X` says is applied to an egress. Qdiscs that the kernel puts there by itself (noqueue,
/// pfifo_fast, fq_codel …) shape nothing. The kernel does not tell a delay's distribution: it reads back as uniform.
/// Throws EnvironmentError for what is not such JSON, and for a qdisc that shapes but is not ours.
config::LinkConditions read_back(const std::string& tc_json);

/// Sentences on where what is applied differs from what was requested; empty if it does not. Values that were left to
/// us (burst, queues) and the distribution, which cannot be read, are not compared. Tolerances are what tc and the
/// kernel round: 2 us and 0.1 % of times, 0.1 % of rates and probabilities, what the rate delivers in 2 us for bursts,
/// and one frame's time in the queue.
std::vector<std::string> differences(const config::LinkConditions& requested, const config::LinkConditions& applied);

}  // namespace paretopipe::shaping
