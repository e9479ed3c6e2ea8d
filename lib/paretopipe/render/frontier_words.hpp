#pragma once
#include <paretopipe/analysis/frontier/frontier_report.hpp>
#include <paretopipe/render/table.hpp>

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

/// The splits of some rows, ascending: "3, 7, 9-12"; three or more successive splits of the group form a range.
std::string split_list(const frontier::FrontierGroup& group, const std::vector<std::size_t>& rows);

/// How a dominated row compares with the row that beats it, in the order of the objectives: "+58% -61%"; "=" for a tie;
/// in the objective's unit if the better value is 0.
std::string shortfall(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                      const frontier::FrontierRow& row);

/// "lowest latency_p50", "highest throughput"
std::string superlative(const frontier::Objective& objective);

/// The recommendation in one sentence, with its numbers: "Cut after block 7, as the best compromise: latency_p50 20.8
/// ms (best 18.1 ms, at 10) and …". It names the balanced split, the result without splitting, how often resampling
/// keeps that choice if not nearly always, and the splits that cannot be told from it.
std::string headline(const frontier::FrontierReport& report, const frontier::FrontierGroup& group);

/// The same for an unknown network: "Whatever the network (lan, wifi): cut after block 7, at worst …".
std::string robust_headline(const frontier::FrontierReport& report, const frontier::NetworkFamily& family);

/// "3 of 21 splits are on the frontier of latency_p50:min and throughput:max: 7, 12, 20."
std::string members_sentence(const frontier::FrontierReport& report, const frontier::FrontierGroup& group);

/// How much the frontier dominates, and up to which reference; empty if unknown.
std::string volume_sentence(const frontier::FrontierReport& report, const frontier::FrontierGroup& group);

/// The meaning of the table's columns on uncertainty, and how little few repetitions can say.
std::vector<std::string> legend(const frontier::FrontierReport& report, const frontier::FrontierGroup& group);

/// The meaning of the speed-up columns; empty if the group has none.
std::string speed_up_sentence(const frontier::FrontierGroup& group);

/// The splits on the frontier whose codec changes classes, and how often; empty if there are none.
std::string codec_sentence(const frontier::FrontierGroup& group);

/// How often the splits are right, if there are labels; otherwise empty.
std::string accuracy_sentence(const frontier::FrontierGroup& group);

/// How often a measurement was disturbed, repeated, or contained outliers; empty if never.
std::string incidents_sentence(const frontier::FrontierGroup& group);

/// A sentence for every split that failed, is excluded by a constraint, or lacks an objective.
std::vector<std::string> remarks(const frontier::FrontierReport& report, const frontier::FrontierGroup& group);

/// The recommendations for a row: "lowest latency_p50", "balanced", "knee", "robust"; empty for most.
std::vector<std::string> recommended_for(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                                         std::size_t row);

/// The signs of a medium.
struct TableMarks {
  std::string unbeaten;  ///< in place of what beats a split, for one on the frontier
  std::string missing;
  std::string to;  ///< between the ends of an interval
};

/// One row per split: its values with their intervals, what beats it and by how much, the probability of being on the
/// frontier, and similar splits. Columns that would be empty are left out, and rows on the frontier are stressed.
Table make_table(const frontier::FrontierReport& report, const frontier::FrontierGroup& group, const TableMarks& marks);

/// The recommendations, their reasons, and similar splits: the best split in each objective, the balanced one, the
/// knee. Without rows if none was compared.
Table make_recommendation_table(const frontier::FrontierReport& report, const frontier::FrontierGroup& group);

/// "How the frontier moves with the network: resnet18"; with the family's settings if a model has several families.
std::string movement_title(const frontier::FrontierReport& report, const frontier::NetworkFamily& family);

/// The frontier's movement from network to network. Each network has a row with the splits on its frontier and, for
/// each objective, the best split and its value.
Table make_movement_table(const frontier::FrontierReport& report, const frontier::NetworkFamily& family,
                          const std::string& missing_mark);

}  // namespace paretopipe::render
