#pragma once
#include <paretopipe/report/frontier_report.hpp>

#include <string>
#include <vector>

/// What is said around a group's table.
namespace paretopipe::report {

/// "3 of 21 splits are on the frontier of latency_p50:min and throughput:max: 7, 12, 20."
std::string members_sentence(const FrontierReport& report, const FrontierGroup& group);

/// How much the frontier dominates, and up to which reference; empty where that is not known.
std::string volume_sentence(const FrontierReport& report, const FrontierGroup& group);

/// What the table's columns say of uncertainty, and how little few repetitions can say.
std::vector<std::string> legend(const FrontierReport& report, const FrontierGroup& group);

/// What the columns of speed-ups mean; empty where the group has none.
std::string speed_up_sentence(const FrontierGroup& group);

/// How often the splits are right, where there are labels; else empty.
std::string accuracy_sentence(const FrontierGroup& group);

/// How often a measurement was disturbed, made again, or held outliers; empty where none was.
std::string incidents_sentence(const FrontierGroup& group);

/// A sentence for every split that failed, that a constraint excludes, or that lacks an objective.
std::vector<std::string> remarks(const FrontierReport& report, const FrontierGroup& group);

/// What a row is recommended for: "lowest latency_p50", "balanced", "knee", "robust"; empty for most.
std::vector<std::string> recommended_for(const FrontierReport& report, const FrontierGroup& group, std::size_t row);

}  // namespace paretopipe::report
