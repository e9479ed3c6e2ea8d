#pragma once
#include <paretopipe/report/frontier_report.hpp>

#include <cstddef>
#include <vector>

#include "frontier_table.hpp"

namespace paretopipe::report {

/// Groups of the report, by index, that differ in their network only; families of one are left out.
std::vector<std::vector<std::size_t>> network_families(const FrontierReport& report);

/// How the frontier moves from network to network: one row a network, with the splits on its frontier and the best
/// split in each objective with its value.
FrontierTable make_movement_table(const FrontierReport& report, const std::vector<std::size_t>& family,
                                  const std::string& missing_mark);

}  // namespace paretopipe::report
