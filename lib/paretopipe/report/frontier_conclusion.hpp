#pragma once
#include <paretopipe/report/frontier_report.hpp>

#include <string>

namespace paretopipe::report {

/// The recommendation in one sentence, with its numbers: "Cut after block 7, as the best compromise: latency_p50 20.8
/// ms (best 18.1 ms, at 10) and …". It names the balanced split, the result without splitting, how often resampling
/// keeps that choice if not nearly always, and the splits that cannot be told from it.
std::string headline(const FrontierReport& report, const FrontierGroup& group);

/// The same for an unknown network: "Whatever the network (lan, wifi): cut after block 7, at worst …".
std::string robust_headline(const FrontierReport& report, const NetworkFamily& family);

}  // namespace paretopipe::report
