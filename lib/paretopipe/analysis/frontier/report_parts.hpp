#pragma once
#include <paretopipe/analysis/frontier/frontier_report.hpp>

namespace paretopipe::frontier {

/// Recommends among a group's compared rows, whose frontier must be known; none if there are none. `points` has a point
/// for every row, an incomplete one if the row was not compared.
std::optional<Recommendation> recommend(const FrontierGroup& group, const Points& points,
                                        const std::vector<Objective>& objectives);

/// The families of a report whose groups are complete, each with the split to pick for an unknown network. Among the
/// splits compared over every network, including "do not split", that is the one with the smallest worst relative
/// regret over all networks and objectives.
std::vector<NetworkFamily> make_families(const FrontierReport& report);

/// Adds what the repetitions say about a group's medians: intervals, the probability that a row is on the frontier or
/// is the balanced choice, and the rows that cannot be told apart.
///
/// Joint bootstrap: each of stats::kResamples resamples draws every compared row's repetitions anew, keeping all
/// objectives of a repetition together, and finds the frontier and the balanced choice of the new medians. Rows are
/// drawn independently of each other. A row with one repetition enters unchanged. Two rows can be told apart in an
/// objective if the 95 % interval of the difference of their medians excludes zero.
void add_confidence(FrontierGroup& group, std::span<const record::TrialRecord> records,
                    const std::vector<Objective>& objectives, std::uint64_t seed);

}  // namespace paretopipe::frontier
