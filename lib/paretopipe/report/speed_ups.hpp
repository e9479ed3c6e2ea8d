#pragma once
#include <paretopipe/stats/aggregate.hpp>

#include <optional>
#include <span>

namespace paretopipe::report {

/// A configuration's throughput over that of each baseline, as medians over the repetitions; absent where either was
/// not measured.
struct SpeedUps {
  std::optional<double> single;      ///< the whole model on one device: the group's "all local", with as much in flight
  std::optional<double> sequential;  ///< the same stages with one batch in flight (metric throughput_sequential)
};

/// Where the whole model ran on one device; null where that has no result that counts.
const stats::Configuration* find_single(std::span<const stats::Configuration> group);

/// `single` may be null.
SpeedUps speed_ups_of(const stats::Configuration& configuration, const stats::Configuration* single);

}  // namespace paretopipe::report
