#pragma once
#include <paretopipe/compare/comparison.hpp>
#include <paretopipe/report/table.hpp>

#include <span>
#include <string>
#include <vector>

namespace paretopipe::compare {

/// What people see of some configurations, whatever it is drawn with.
struct ChangeTable {
  std::vector<report::Table::Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<bool> worse;  ///< rows to be stressed
};

ChangeTable make_change_table(std::span<const ConfigurationChange> group, const std::string& missing_mark);

/// All configurations together; without rows where fewer than two could be.
ChangeTable make_together_table(const Comparison& comparison, const std::string& missing_mark);
inline constexpr const char* kTogether = "all configurations together";

/// The configurations of a comparison in runs that share all settings but the split.
std::vector<std::span<const ConfigurationChange>> groups_of(const Comparison& comparison);

/// One row a rule: how often it held, was broken and could not be decided.
ChangeTable make_rule_table(const Comparison& comparison);

/// A sentence for every check of `group` that is broken or could not be decided.
std::vector<std::string> findings(const Comparison& comparison, std::span<const ConfigurationChange> group);

/// A sentence for every check of all configurations together that is broken or could not be decided.
std::vector<std::string> findings_together(const Comparison& comparison);

}  // namespace paretopipe::compare
