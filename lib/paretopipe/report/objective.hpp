#pragma once
#include <paretopipe/record/metric.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::report {

/// What a frontier is drawn in: a metric and the way that is good.
struct Objective {
  const record::Metric* metric = nullptr;  ///< one of record::metrics(), never null
  record::Direction direction = record::Direction::min;

  /// As people write it: "latency_p50:min".
  std::string label() const;
};

/// "latency_p50:min", or "latency_p50" with the metric's own direction. Throws UsageError naming what is known.
Objective parse_objective(std::string_view text);

/// Of no texts, the default: latency_p50 and throughput. A metric named twice throws UsageError.
std::vector<Objective> parse_objectives(const std::vector<std::string>& texts);

}  // namespace paretopipe::report
