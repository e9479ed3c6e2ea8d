#pragma once
#include <paretopipe/analysis/compare/comparison.hpp>
#include <paretopipe/render/table.hpp>

#include <string>

namespace paretopipe::render {

/// For a terminal: the conclusion, the outcomes of the rules, and for each group of configurations a table and the
/// checks that did not hold. Notes follow: configurations that only one side has, machines that differ, repetitions
/// that do not count.
std::string render_text(const compare::Comparison& comparison, const TextStyle& style);

/// The same in GitHub's Markdown, for pull requests and job summaries.
std::string render_markdown(const compare::Comparison& comparison);

/// All that the other formats show, as raw numbers. What has no value has no key.
std::string render_json(const compare::Comparison& comparison);

/// JUnit XML with one testcase per rule and configuration. A testcase fails where the rule is broken and is skipped
/// where it cannot be decided. Without rules there is no testcase.
std::string render_junit(const compare::Comparison& comparison);

}  // namespace paretopipe::render
