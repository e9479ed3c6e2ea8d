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
  experiment::Trial trial;                     ///< of the first of its records; its repetition means nothing
  std::vector<std::size_t> ok;                 ///< indices of its records that count, in the order of the records
  std::vector<std::size_t> failed;             ///< indices of its records without a result
  std::vector<std::size_t> invalid;            ///< indices of those that were measured under other conditions
  std::vector<std::optional<double>> medians;  ///< parallel to record::metrics()

  std::size_t count() const { return ok.size() + failed.size() + invalid.size(); }

  /// Median over the ok repetitions that have the number: for an even count, the mean of the middle two. Absent where
  /// none has it. `metric` must be one of record::metrics().
  std::optional<double> median(const record::Metric& metric) const;

  /// Makes `medians` those of the records `ok`, for callers that removed some.
  void count_medians(std::span<const record::TrialRecord> records);
};

/// Configurations that differ in their cut only (experiment::Cut), and the baselines beside them. Frontiers are drawn
/// within a group: to compare splits across different batches or thread counts would compare two experiments.
struct ConfigurationGroup {
  std::vector<Configuration> configurations;  ///< by ascending split points, then codecs; data-parallel last

  /// What they share; only its cut and repetition mean nothing.
  const experiment::Trial& settings() const { return configurations.front().trial; }
};

/// One configuration for every trial without its repetition, in groups, in the order in which the records first name
/// them. Only ok records enter medians; failed and invalid ones are counted.
std::vector<ConfigurationGroup> aggregate(std::span<const record::TrialRecord> records);

}  // namespace paretopipe::stats
