#pragma once
#include <paretopipe/analysis/frontier/frontier_report.hpp>

#include <string>
#include <vector>

namespace paretopipe::render {

struct FrontierColumn {
  std::string heading;
  bool numeric = false;  ///< aligned right
  int dispensable = 0;   ///< the highest is left out first if space is short; 0 never is
};

/// A table for people, in whatever medium.
struct FrontierTable {
  std::vector<FrontierColumn> columns;
  std::vector<std::vector<std::string>> rows;
};

/// The signs of a medium.
struct TableMarks {
  std::string unbeaten;  ///< in place of what beats a split, for one on the frontier
  std::string missing;
  std::string to;  ///< between the ends of an interval
};

/// One row per split: its values with their intervals, what beats it and by how much, the probability of being on the
/// frontier, and similar splits. Columns that would be empty are left out.
FrontierTable make_table(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                         const TableMarks& marks);

/// The recommendations, their reasons, and similar splits: the best split in each objective, the balanced one, the
/// knee. Without rows if none was compared.
FrontierTable make_recommendation_table(const frontier::FrontierReport& report, const frontier::FrontierGroup& group);

/// "How the frontier moves with the network: resnet18"; with the family's settings if a model has several families.
std::string movement_title(const frontier::FrontierReport& report, const frontier::NetworkFamily& family);

/// The frontier's movement from network to network. Each network has a row with the splits on its frontier and, for
/// each objective, the best split and its value.
FrontierTable make_movement_table(const frontier::FrontierReport& report, const frontier::NetworkFamily& family,
                                  const std::string& missing_mark);

}  // namespace paretopipe::render
