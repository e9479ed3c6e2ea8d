#pragma once
#include <paretopipe/analysis/frontier/frontier_report.hpp>

#include <string>
#include <vector>

/// The text around a group's table.
namespace paretopipe::render {

/// "3 of 21 splits are on the frontier of latency_p50:min and throughput:max: 7, 12, 20."
std::string members_sentence(const frontier::FrontierReport& report, const frontier::FrontierGroup& group);

/// How much the frontier dominates, and up to which reference; empty if unknown.
std::string volume_sentence(const frontier::FrontierReport& report, const frontier::FrontierGroup& group);

/// The meaning of the table's columns on uncertainty, and how little few repetitions can say.
std::vector<std::string> legend(const frontier::FrontierReport& report, const frontier::FrontierGroup& group);

/// The meaning of the speed-up columns; empty if the group has none.
std::string speed_up_sentence(const frontier::FrontierGroup& group);

/// How often the splits are right, if there are labels; otherwise empty.
std::string accuracy_sentence(const frontier::FrontierGroup& group);

/// How often a measurement was disturbed, repeated, or contained outliers; empty if never.
std::string incidents_sentence(const frontier::FrontierGroup& group);

/// A sentence for every split that failed, is excluded by a constraint, or lacks an objective.
std::vector<std::string> remarks(const frontier::FrontierReport& report, const frontier::FrontierGroup& group);

/// The recommendations for a row: "lowest latency_p50", "balanced", "knee", "robust"; empty for most.
std::vector<std::string> recommended_for(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                                         std::size_t row);

}  // namespace paretopipe::render
