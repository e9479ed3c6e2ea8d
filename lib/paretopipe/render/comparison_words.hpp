#pragma once
#include <paretopipe/analysis/compare/comparison.hpp>
#include <paretopipe/render/table.hpp>

#include <span>
#include <string>
#include <vector>

namespace paretopipe::render {

// Words that all formats share.

/// "no change", "too few repetitions", …
std::string to_string(compare::Verdict verdict);

/// "held", "broken", "undecided"
std::string to_string(compare::Outcome outcome);

/// Explains a rule's outcome: what was measured, how sure it is, and how it compares with the threshold.
std::string explain(const compare::Rule& rule, const compare::Change& change);

/// "Regression: 2 of 42 checks are broken and 3 undecided."
std::string conclusion(const compare::Comparison& comparison);

/// Sentences on what the tables do not show.
std::vector<std::string> notes(const compare::Comparison& comparison);

/// The table of some configurations. Rows that got worse are stressed, as in the other tables.
Table make_change_table(std::span<const compare::ConfigurationChange> group, const std::string& missing_mark);

/// The changes of all configurations together. The table has no rows if no metric has such a change.
Table make_together_table(const compare::Comparison& comparison, const std::string& missing_mark);
inline constexpr const char* kTogether = "all configurations together";

/// The configurations of a comparison, grouped by their settings without the split.
std::vector<std::span<const compare::ConfigurationChange>> groups_of(const compare::Comparison& comparison);

/// One row per rule: how often it held, was broken, or could not be decided.
Table make_rule_table(const compare::Comparison& comparison);

/// One sentence per check of `group` that is broken or could not be decided.
std::vector<std::string> findings(const compare::Comparison& comparison,
                                  std::span<const compare::ConfigurationChange> group);

/// One sentence per check of all configurations together that is broken or could not be decided.
std::vector<std::string> findings_together(const compare::Comparison& comparison);

}  // namespace paretopipe::render
