#pragma once
#include <paretopipe/compare/comparison.hpp>

#include <string>
#include <vector>

/// Words that all formats share.
namespace paretopipe::compare {

/// "+7.5 %"; "+0.012 %" where one decimal would hide it
std::string percent_of(double ratio);

/// "no change", "too few repetitions", …
std::string to_string(Verdict verdict);

/// "held", "broken", "undecided"
std::string to_string(Outcome outcome);

/// "mobilenet_v2, batch 1, …, split 9/20"
std::string describe(const plan::Trial& trial);

/// Explains a rule's outcome: what was measured, how sure it is, and how it compares with the threshold.
std::string explain(const Rule& rule, const Change& change);

/// "Regression: 2 of 42 checks are broken and 3 undecided."
std::string conclusion(const Comparison& comparison);

/// Sentences on what the tables do not show.
std::vector<std::string> notes(const Comparison& comparison);

}  // namespace paretopipe::compare
