#pragma once
#include <paretopipe/record/metric.hpp>

#include <string>
#include <string_view>

namespace paretopipe::compare {

/// A change that must not happen: "throughput < -5%" is broken where throughput fell by more than 5 % (see judge.hpp).
struct Rule {
  const record::Metric* metric = nullptr;
  bool above = false;  ///< '>': changes above the threshold break the rule; otherwise those below it
  double percent = 0;  ///< of the base's median: > -100; at most 0 for '<', at least 0 for '>'

  std::string text() const;  ///< "throughput < -5%"

  bool operator==(const Rule&) const = default;
};

/// Parses "METRIC < -N%" or "METRIC > +N%"; blanks are optional. Throws UsageError for anything else: an unknown
/// metric, a threshold that no change at all would already pass, or one that no change can pass.
Rule parse_rule(std::string_view text);

}  // namespace paretopipe::compare
