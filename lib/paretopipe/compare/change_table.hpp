#pragma once
#include <paretopipe/compare/comparison.hpp>
#include <paretopipe/report/table.hpp>

#include <span>
#include <string>
#include <vector>

namespace paretopipe::compare {

/// The table of some configurations, independent of the output format.
struct ChangeTable {
  std::vector<report::Table::Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<bool> worse;  ///< marks the rows to stress
};

ChangeTable make_change_table(std::span<const ConfigurationChange> group, const std::string& missing_mark);

/// The changes of all configurations together. The table has no rows if no metric has such a change.
ChangeTable make_together_table(const Comparison& comparison, const std::string& missing_mark);
inline constexpr const char* kTogether = "all configurations together";

/// The configurations of a comparison, as runs that share all settings but the split.
std::vector<std::span<const ConfigurationChange>> groups_of(const Comparison& comparison);

/// One row per rule: how often it held, was broken, or could not be decided.
ChangeTable make_rule_table(const Comparison& comparison);

/// One sentence per check of `group` that is broken or could not be decided.
std::vector<std::string> findings(const Comparison& comparison, std::span<const ConfigurationChange> group);

/// One sentence per check of all configurations together that is broken or could not be decided.
std::vector<std::string> findings_together(const Comparison& comparison);

}  // namespace paretopipe::compare
