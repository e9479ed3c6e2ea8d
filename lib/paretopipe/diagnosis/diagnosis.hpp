#pragma once
#include <paretopipe/diagnosis/bounds.hpp>
#include <paretopipe/stats/aggregate.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace paretopipe::diagnosis {

/// What bounds one configuration, over its repetitions.
struct ConfigurationDiagnosis {
  stats::Configuration configuration;
  bool wanted = true;                ///< somebody asked for it; otherwise it is here to be compared with
  std::optional<Demands> demands;    ///< medians over the repetitions that count; absent without, or without a phase
  std::vector<Constraint> bounds;    ///< constraints(*demands); empty without them
  std::size_t agreeing = 0;          ///< repetitions whose own bottleneck is bounds.front()
  std::vector<std::string> reasons;  ///< why repetitions have no result or do not count, each once
  std::size_t disturbed = 0;         ///< repetitions that count and were disturbed, or in which a stage slowed down
  std::vector<std::string> disturbances;  ///< of the repetitions that count, each once: stages that slowed down
                                          ///< (stats::slow_down_sentences), and what the machine did

  const plan::Trial& trial() const { return configuration.trial; }
  bool has_result() const { return !configuration.ok.empty(); }
  /// What bounds the throughput takes both phases to tell.
  bool lacks_phase() const { return trial().phases != config::Phases::both; }
};

/// Configurations that differ in their split points only, by ascending split points; data parallelism, whose batches
/// pass no stages one after the other, comes last and is not diagnosed: it has no demands.
struct GroupDiagnosis {
  std::vector<ConfigurationDiagnosis> configurations;
  std::map<int, std::string> block_names{};  ///< of those that stages ended with, by how many blocks that makes

  const plan::Trial& settings() const { return configurations.front().trial(); }

  bool all_wanted() const;

  /// Configurations that have demands.
  std::ptrdiff_t measured_count() const;

  /// "Do not split", the baseline, where it was measured; null otherwise.
  const ConfigurationDiagnosis* all_local() const;

  /// The baseline data-parallel, where it has a result that counts; null otherwise.
  const ConfigurationDiagnosis* data_parallel() const;

  /// Of the highest throughput; null where no configuration has a result.
  const ConfigurationDiagnosis* fastest() const;

  /// The configuration with these split points, if it has a result; null otherwise.
  const ConfigurationDiagnosis* measured(const std::vector<int>& split_points) const;
};

/// Diagnoses the trials whose ids are in `wanted`, and, to compare with, every other configuration of their groups;
/// groups in which nothing is wanted are left out. Of a configuration some of whose repetitions are wanted, only those
/// enter its numbers. Throws UsageError for damaged samples.
std::vector<GroupDiagnosis> diagnose(std::span<const record::TrialRecord> records, const std::set<std::string>& wanted);

}  // namespace paretopipe::diagnosis
