#pragma once
#include <paretopipe/report/frontier_report.hpp>

#include <string>

namespace paretopipe::report {

/// What to do, in one sentence, with the numbers that carry it: "Cut after block 7, as the best compromise: latency_p50
/// 20.8 ms (best 18.1 ms, at 10) and …". It names the balanced split, what not splitting gives, how often resampling
/// keeps that choice where that is not nearly always, and what cannot be told from it.
std::string headline(const FrontierReport& report, const FrontierGroup& group);

/// The same where the network is not known: "Whatever the network (lan, wifi): cut after block 7, at worst …".
std::string robust_headline(const FrontierReport& report, const NetworkFamily& family);

}  // namespace paretopipe::report
