#pragma once
#include <paretopipe/analysis/frontier/frontier_report.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::render {

// Phrases shared by tables and sentences about frontiers. ASCII, whatever the terminal.

/// "58 %", "1.4 %", "0 %": a share, or a ratio minus one, for people.
std::string percent(double share);

/// A probability: "97 %", "100 %" only for what always happened, ">99 %" and "<1 %" short of it.
std::string probability(double share);

/// "39.0-40.2" beside a value of the same unit, otherwise with units; `to` is the text between the ends.
std::string format_interval(const stats::Interval& interval, double beside, std::string_view unit,
                            const std::string& to);

/// The cut in a table whose title names the model: "7", "0 remote", "20 local".
std::string short_label(const frontier::FrontierRow& row);

/// "Cut after block 7", "Cut after blocks 3 and 7", "Do not split (all local)".
std::string verdict(const experiment::Trial& trial);

/// The splits of some rows, ascending: "3, 7, 9-12"; three or more successive splits of the group form a range.
std::string split_list(const frontier::FrontierGroup& group, const std::vector<std::size_t>& rows);

/// How a dominated row compares with the row that beats it, in the order of the objectives: "+58% -61%"; "=" for a tie;
/// in the objective's unit if the better value is 0.
std::string shortfall(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                      const frontier::FrontierRow& row);

/// The objectives that the trials of a group cannot have because they were measured in only one phase.
std::vector<std::string> unmeasured(const frontier::FrontierReport& report, const frontier::FrontierGroup& group);

/// "lowest latency_p50", "highest throughput"
std::string superlative(const frontier::Objective& objective);

/// The recommendation in one sentence, with its numbers: "Cut after block 7, as the best compromise: latency_p50 20.8
/// ms (best 18.1 ms, at 10) and …". It names the balanced split, the result without splitting, how often resampling
/// keeps that choice if not nearly always, and the splits that cannot be told from it.
std::string headline(const frontier::FrontierReport& report, const frontier::FrontierGroup& group);

/// The same for an unknown network: "Whatever the network (lan, wifi): cut after block 7, at worst …".
std::string robust_headline(const frontier::FrontierReport& report, const frontier::NetworkFamily& family);

}  // namespace paretopipe::render
