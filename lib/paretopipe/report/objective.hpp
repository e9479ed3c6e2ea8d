#pragma once
#include <paretopipe/record/metric.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::report {

/// One objective of a frontier: a metric and its good direction.
struct Objective {
  const record::Metric* metric = nullptr;  ///< one of record::metrics(), never null
  record::Direction direction = record::Direction::min;

  /// As people write it: "latency_p50:min".
  std::string label() const;
};

/// "latency_p50:min", or "latency_p50" with the metric's own direction. Throws UsageError that lists what is known.
Objective parse_objective(std::string_view text);

/// The phases that the ok records have: both if one record has both, or if none is ok; single_stream if some have one
/// phase and some the other.
config::Phases measured_phases(std::span<const record::TrialRecord> records);

/// Without texts, record::usual_objectives() of these phases. Throws UsageError if a metric is named twice.
std::vector<Objective> parse_objectives(const std::vector<std::string>& texts,
                                        config::Phases measured = config::Phases::both);

}  // namespace paretopipe::report
