#pragma once
#include <paretopipe/report/frontier_report.hpp>

#include <string>
#include <string_view>
#include <vector>

/// Turns of phrase that tables and sentences about frontiers share. ASCII, whatever the terminal.
namespace paretopipe::report {

/// "58 %", "1.4 %", "0 %": a share or a ratio less one, for people.
std::string percent(double share);

/// A probability: "97 %", "100 %" only for what always happened, ">99 %" and "<1 %" short of it.
std::string probability(double share);

/// "39.0-40.2" beside a value of the same unit, else with units; `to` stands between the ends.
std::string format_interval(const stats::Interval& interval, double beside, std::string_view unit,
                            const std::string& to);

/// The cut in a table, where the group's title has said the model: "7", "0 remote", "20 local".
std::string short_label(const FrontierRow& row);

/// "Cut after block 7", "Cut after blocks 3 and 7", "Do not split (all local)".
std::string verdict(const plan::Trial& trial);

/// The splits of some rows, ascending: "3, 7, 9-12" where three or more neighbours in the group follow each other.
std::string split_list(const FrontierGroup& group, const std::vector<std::size_t>& rows);

/// How a dominated row compares with the row that beats it, in the order of the objectives: "+58% -61%", "=" for a tie,
/// in the objective's unit where the better value is 0.
std::string shortfall(const FrontierReport& report, const FrontierGroup& group, const FrontierRow& row);

/// Which of the objectives the trials of a group cannot have, for they were measured in one phase only.
std::vector<std::string> unmeasured(const FrontierReport& report, const FrontierGroup& group);

/// "lowest latency_p50", "highest throughput"
std::string superlative(const Objective& objective);

}  // namespace paretopipe::report
