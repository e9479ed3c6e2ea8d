#pragma once
#include <paretopipe/record/metric.hpp>

#include <string>
#include <string_view>

namespace paretopipe::compare {

/// A change that must not happen: "throughput < -5%" is broken where throughput fell by more than 5 % (see judge.hpp).
struct Rule {
  const record::Metric* metric = nullptr;
  bool above = false;  ///< broken by changes above the threshold ('>'); otherwise by those below it
  double percent = 0;  ///< of the base's median: > -100; not positive for '<', not negative for '>'

  std::string text() const;  ///< "throughput < -5%"

  bool operator==(const Rule&) const = default;
};

/// METRIC < -N% or METRIC > +N%, with blanks wherever they help. Throws UsageError for anything else: an unknown
/// metric, a threshold that no change at all would pass already, one that no change can pass.
Rule parse_rule(std::string_view text);

}  // namespace paretopipe::compare
