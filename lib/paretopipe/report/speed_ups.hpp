#pragma once
#include <paretopipe/stats/aggregate.hpp>

#include <optional>
#include <span>

namespace paretopipe::report {

/// A configuration's throughput relative to each baseline, as medians over the repetitions; absent if either was not
/// measured.
struct SpeedUps {
  std::optional<double> single;      ///< the whole model on one device: the group's "all local", with as much in flight
  std::optional<double> sequential;  ///< the same stages with one batch in flight (metric throughput_sequential)
  std::optional<double> data_parallel;  ///< the whole model on as many devices, with as much in flight in all
};

/// The baselines of a group that are configurations; null if one has no result that counts.
struct Baselines {
  const stats::Configuration* single = nullptr;  ///< the whole model on one device
  const stats::Configuration* data_parallel = nullptr;
};

Baselines find_baselines(std::span<const stats::Configuration> group);

SpeedUps speed_ups_of(const stats::Configuration& configuration, const Baselines& baselines);

}  // namespace paretopipe::report
