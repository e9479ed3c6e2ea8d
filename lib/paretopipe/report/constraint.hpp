#pragma once
#include <paretopipe/record/metric.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::report {

enum class Comparison { less, at_most, greater, at_least };

/// A bound of a metric's median that a split must keep to be considered.
struct Constraint {
  const record::Metric* metric = nullptr;  ///< one of record::metrics(), never null
  Comparison comparison = Comparison::less;
  double bound = 0;  ///< in the metric's unit

  bool holds(double value) const;

  /// As people write it: "latency_p95 < 80.0 ms".
  std::string label() const;
};

/// "latency_p95 < 80ms", "peak_rss<=512MiB", "throughput > 100". Throws UsageError that lists what is known.
Constraint parse_constraint(std::string_view text);

std::vector<Constraint> parse_constraints(const std::vector<std::string>& texts);

}  // namespace paretopipe::report
