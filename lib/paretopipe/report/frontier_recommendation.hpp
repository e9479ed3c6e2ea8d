#pragma once
#include <paretopipe/report/frontier_report.hpp>

namespace paretopipe::report {

/// What to pick among a group's compared rows, whose frontier is known; none where there are none. `points` has a point
/// for every row, incomplete where the row was not compared.
std::optional<Recommendation> recommend(const FrontierGroup& group, const frontier::Points& points,
                                        const std::vector<Objective>& objectives);

/// The families of a report whose groups are complete, each with the split to pick where the network is not known: of
/// those compared over every network, "do not split" included, the one whose worst relative regret over all networks
/// and objectives is smallest.
std::vector<NetworkFamily> make_families(const FrontierReport& report);

}  // namespace paretopipe::report
