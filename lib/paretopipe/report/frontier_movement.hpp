#pragma once
#include <paretopipe/report/frontier_report.hpp>

#include <string>

#include "frontier_table.hpp"

namespace paretopipe::report {

/// "How the frontier moves with the network: resnet18"; with the family's settings if a model has several families.
std::string movement_title(const FrontierReport& report, const NetworkFamily& family);

/// The frontier's movement from network to network. Each network has a row with the splits on its frontier and, for
/// each objective, the best split and its value.
FrontierTable make_movement_table(const FrontierReport& report, const NetworkFamily& family,
                                  const std::string& missing_mark);

}  // namespace paretopipe::report
