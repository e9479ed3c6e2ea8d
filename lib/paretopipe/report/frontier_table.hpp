#pragma once
#include <paretopipe/report/frontier_report.hpp>

#include <string>
#include <vector>

namespace paretopipe::report {

struct FrontierColumn {
  std::string heading;
  bool numeric = false;  ///< to be aligned at the right
  int dispensable = 0;   ///< where room is short the highest is left out first; 0 never is
};

/// A table that people see, whatever it is drawn with.
struct FrontierTable {
  std::vector<FrontierColumn> columns;
  std::vector<std::vector<std::string>> rows;
};

/// The signs that a medium has.
struct TableMarks {
  std::string unbeaten;  ///< what beats a split on the frontier
  std::string missing;
  std::string to;  ///< between the ends of an interval
};

/// One row a split: its values with their intervals, what beats it and by how much, the probability of being on the
/// frontier, which splits are like it. Columns that would be empty are left out.
FrontierTable make_table(const FrontierReport& report, const FrontierGroup& group, const TableMarks& marks);

/// What to pick, why, and what is like it: the best split in each objective, the balanced one, the knee. No rows where
/// none was compared.
FrontierTable make_recommendation_table(const FrontierReport& report, const FrontierGroup& group);

}  // namespace paretopipe::report
