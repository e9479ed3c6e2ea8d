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

}  // namespace paretopipe::frontier
