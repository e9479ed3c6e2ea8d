#pragma once
#include <paretopipe/record/metric.hpp>
#include <paretopipe/record/record.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace paretopipe::stats {

/// All repetitions of one configuration: a trial without its repetition.
struct Configuration {
  plan::Trial trial;                           ///< of its first record; the repetition means nothing
  std::vector<std::size_t> ok;                 ///< indices of its ok records, in the order of the records
  std::vector<std::size_t> failed;             ///< indices of its records without a result
  std::vector<std::size_t> invalid;            ///< indices of records measured under other conditions
  std::vector<std::optional<double>> medians;  ///< parallel to record::metrics()

  std::size_t count() const { return ok.size() + failed.size() + invalid.size(); }

  /// The median over the ok repetitions that have the number; for an even count, the mean of the middle two. Absent if
  /// none has it. `metric` must be one of record::metrics().
  std::optional<double> median(const record::Metric& metric) const;
};

/// Configurations that differ only in their split points, and the baselines beside them. Frontiers are drawn within a
/// group: a comparison across batches or thread counts would compare two experiments.
struct ConfigurationGroup {
  std::vector<Configuration> configurations;  ///< by ascending split points; data-parallel last

  /// The shared settings; the split points and the repetition mean nothing.
  const plan::Trial& settings() const { return configurations.front().trial; }
};

/// One configuration for all trials that differ only in their repetition, in groups sorted by their settings: trials
/// run in random order, which tables must not show. Only ok records enter medians; failed and invalid ones are counted.
std::vector<ConfigurationGroup> aggregate(std::span<const record::TrialRecord> records);

}  // namespace paretopipe::stats
