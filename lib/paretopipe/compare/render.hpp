#pragma once
#include <paretopipe/compare/comparison.hpp>
#include <paretopipe/report/text_style.hpp>

#include <string>

namespace paretopipe::compare {

/// For a terminal: the conclusion, what became of the rules, for each group of configurations a table and the checks
/// that did not hold, and notes: what is on one side only, machines that differ, repetitions that do not count.
std::string render_text(const Comparison& comparison, const report::TextStyle& style);

/// The same in GitHub's Markdown, for pull requests and job summaries.
std::string render_markdown(const Comparison& comparison);

/// Everything that the others show, as raw numbers; what has no value has no key.
std::string render_json(const Comparison& comparison);

/// JUnit XML: a testcase for every rule and configuration, which fails where the rule is broken and is skipped where it
/// cannot be decided. Without rules there is no testcase.
std::string render_junit(const Comparison& comparison);

}  // namespace paretopipe::compare
