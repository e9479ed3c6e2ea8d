#pragma once
#include <paretopipe/record/metric.hpp>

#include <span>
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

/// The phases that some of the ok records have: both, if one has both. Where some have the one and some the other,
/// single_stream; both, where none is ok.
config::Phases measured_phases(std::span<const record::TrialRecord> records);

/// Of no texts, record::usual_objectives() of these phases. A metric named twice throws UsageError.
std::vector<Objective> parse_objectives(const std::vector<std::string>& texts,
                                        config::Phases measured = config::Phases::both);

}  // namespace paretopipe::report
