#pragma once
#include <paretopipe/analysis/diagnosis/bounds.hpp>
#include <paretopipe/analysis/diagnosis/demands.hpp>
#include <paretopipe/analysis/stats/aggregate.hpp>

#include <cstddef>
#include <cstdint>
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
  bool wanted = true;                ///< asked for; otherwise included for comparison
  std::optional<Demands> demands;    ///< medians of the counting repetitions; absent if none counts or without a phase
  std::optional<StepDemands> step;   ///< the same of a trial that trains
  std::vector<Constraint> bounds;    ///< constraints(*demands); empty without them
  std::size_t agreeing = 0;          ///< repetitions whose own bottleneck is bounds.front()
  std::vector<std::string> reasons;  ///< each reason, once, why a repetition has no result or does not count
  std::size_t disturbed = 0;         ///< counting repetitions that were disturbed or in which a stage slowed down
  std::vector<std::string> disturbances;  ///< of the repetitions that count, each once: stages that slowed down
                                          ///< (stats::slow_down_sentences), and what the machine did

  const experiment::Trial& trial() const { return configuration.trial; }
  bool has_result() const { return !configuration.ok.empty(); }
  /// True if a phase is missing. Diagnosing the throughput takes both.
  bool lacks_phase() const { return trial().phases != experiment::Phases::both && !trial().training; }
};

/// Configurations that differ only in their cut, by ascending split points. Data parallelism comes last. It
/// has no demands and is not diagnosed, because its batches do not pass through several stages.
struct GroupDiagnosis {
  std::vector<ConfigurationDiagnosis> configurations;
  std::map<int, std::string> block_names{};  ///< names of stages' last blocks, by the number of blocks up to there

  const experiment::Trial& settings() const { return configurations.front().trial(); }

  bool all_wanted() const;

  /// The number of configurations that have demands.
  std::ptrdiff_t measured_count() const;

  /// The baseline "do not split"; null if it was not measured.
  const ConfigurationDiagnosis* all_local() const;

  /// The baseline data-parallel; null if it has no result that counts.
  const ConfigurationDiagnosis* data_parallel() const;

  /// The configuration with the highest throughput; null if none has a result.
  const ConfigurationDiagnosis* fastest() const;

  /// The configuration with these split points; null if it has no result.
  const ConfigurationDiagnosis* measured(const experiment::Cut& cut) const;
};

/// Diagnoses the trials whose ids are in `wanted`, together with all other configurations of their groups for
/// comparison. Groups without wanted trials are left out. If some repetitions of a configuration are wanted, only those
/// enter its numbers. Throws UsageError for damaged samples.
std::vector<GroupDiagnosis> diagnose(std::span<const record::TrialRecord> records, const std::set<std::string>& wanted);

/// Another place for the cut at the link that bounds a configuration, where clearly less crosses it.
struct LighterCut {
  int block = 0;
  std::int64_t bytes = 0;
  const ConfigurationDiagnosis* measured = nullptr;  ///< with the other cuts unchanged; null if not measured
};

/// What a change would bring to a configuration that has demands. It contains only what follows from its numbers or was
/// measured with other splits of its group; the rest is absent.
struct Advice {
  std::optional<Constraint> next{};                 ///< the bound if the bottleneck were removed
  std::optional<int> depth{};                       ///< if the depth is the bottleneck: one that is sufficient
  std::optional<LighterCut> lighter{};              ///< if a link is the bottleneck
  const ConfigurationDiagnosis* evenest = nullptr;  ///< if compute is: the split whose slowest stage does the least
  const ConfigurationDiagnosis* fastest = nullptr;  ///< if it is notably faster
};

/// `group` must be the group of `one`.
Advice advise(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

/// Mean time of encode and decode of a batch, over all stages, with one batch in flight.
double coding_ns(const record::Summary& summary);

/// The rate of a link below which a codec pays: sending `saved_bytes` then takes longer than the codec does. That is
/// 8 · saved bytes / added time. Absent if no bytes are saved, or if the codec takes no time.
std::optional<double> break_even_bit_per_s(double saved_bytes, double added_ns);

/// What a codec does to a cut, beside the same cut without one. Per batch, with one batch in flight.
struct CodecEffect {
  const ConfigurationDiagnosis* plain = nullptr;  ///< the same cut without a codec
  double saved_bytes = 0;                         ///< fewer bytes on all links; negative if there are more
  double added_ns = 0;                            ///< encode and decode beyond those without a codec

  std::optional<double> break_even_bit_per_s{};  ///< diagnosis::break_even_bit_per_s

  /// True if the throughput fell, and its bottleneck is the codec or the compute of a stage that encodes, which may
  /// share a CPU: that stage had no time to spare.
  bool encoder_bounds = false;
};

/// None for a configuration without a codec or without a result. `plain` is null if that cut was not measured.
std::optional<CodecEffect> codec_effect(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

}  // namespace paretopipe::diagnosis
