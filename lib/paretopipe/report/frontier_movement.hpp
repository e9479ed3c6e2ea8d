#pragma once
#include <paretopipe/report/frontier_report.hpp>

#include <string>

#include "frontier_table.hpp"

namespace paretopipe::report {

/// "How the frontier moves with the network: resnet18", with the family's settings where there are several of a model.
std::string movement_title(const FrontierReport& report, const NetworkFamily& family);

/// How the frontier moves from network to network: one row a network, with the splits on its frontier and the best
/// split in each objective with its value.
FrontierTable make_movement_table(const FrontierReport& report, const NetworkFamily& family,
                                  const std::string& missing_mark);

}  // namespace paretopipe::report
