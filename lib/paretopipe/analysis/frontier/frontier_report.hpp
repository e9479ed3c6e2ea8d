#pragma once
#include <paretopipe/analysis/frontier/frontier.hpp>
#include <paretopipe/analysis/frontier/hypervolume.hpp>
#include <paretopipe/analysis/frontier/incident.hpp>
#include <paretopipe/analysis/frontier/objective.hpp>
#include <paretopipe/analysis/stats/aggregate.hpp>
#include <paretopipe/analysis/stats/bootstrap.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::frontier {

/// A configuration's throughput, in training its training_throughput, relative to each baseline, as medians over the
/// repetitions; absent if either was not measured.
struct SpeedUps {
  std::optional<double> single;      ///< the whole model on one device: the group's "all local", with as much in flight
  std::optional<double> sequential;  ///< the same stages with one batch in flight (metric throughput_sequential)
  std::optional<double> data_parallel;  ///< the whole model on as many devices, with as much in flight in all
};

/// The baselines of a group that are configurations, for those that train in one way (Trial::way_of_training): they
/// have the same schedule and micro-batches. Null if one has no result that counts.
struct Baselines {
  const stats::Configuration* single = nullptr;  ///< the whole model on one device
  const stats::Configuration* data_parallel = nullptr;
};

Baselines find_baselines(std::span<const stats::Configuration> group, const std::string& way_of_training);

SpeedUps speed_ups_of(const stats::Configuration& configuration, const Baselines& baselines);

/// One split of a group; or data parallelism, a baseline for comparison that is never on the frontier.
struct FrontierRow {
  stats::Configuration configuration;
  std::vector<std::optional<double>> values;  ///< medians over the ok repetitions, parallel to the objectives
  std::vector<std::optional<stats::Interval>> intervals;  ///< of the values, 95 %; none for fewer than 2 repetitions
  std::optional<double> payload_bytes;
  std::optional<double> top1_kept;  ///< with a codec: share of samples whose class is that of the unsplit model
  SpeedUps speed_ups;
  std::vector<std::string> violations;  ///< the constraints that it violates, in words; they exclude it
  bool on_frontier = false;
  std::optional<std::size_t> dominated_by;  ///< a row of the same group that is on the frontier
  /// Share of joint resamples with it on the frontier; none for fewer than 2 repetitions.
  std::optional<double> frontier_probability;
  std::optional<double> balanced_probability;  ///< the same for being the balanced choice
  std::vector<std::size_t> alike;              ///< rows that differ from this one in no objective, ascending
  std::vector<std::string> failures;           ///< why repetitions failed, each reason once
  std::vector<std::string> deviations;         ///< why invalid repetitions do not count, each reason once

  bool is_split() const { return configuration.trial.data_parallel == 0; }
  bool is_endpoint() const { return configuration.trial.all_local() || configuration.trial.all_remote(); }
  bool complete() const;  ///< has every objective
  bool compared() const;  ///< a complete split that keeps every constraint; the frontier compares only such rows
};

/// The recommended rows. All but the alternative are on the frontier.
struct Recommendation {
  std::vector<std::size_t> best;  ///< parallel to the objectives: a row with the best value
  Choice balanced;                ///< the row whose worst relative regret over the objectives is least
  /// The opposite decision: if an endpoint is balanced, the least bad cut; if a cut is, the least bad endpoint. None if
  /// no such row was compared.
  std::optional<std::size_t> alternative;
  std::optional<std::size_t> knee;  ///< see frontier::find_knee()
};

/// The splits of one model under the same settings, by ascending split points; data parallelism last, if measured.
struct FrontierGroup {
  std::vector<FrontierRow> rows;
  std::optional<Recommendation> recommendation;  ///< none if no row was compared
  std::vector<double> reference;                 ///< one value per objective; empty if no row was compared
  std::optional<Hypervolume> hypervolume;        ///< up to the reference; none for more than 4 objectives
  std::vector<Incident> incidents;               ///< by ascending split points, then repetitions

  const experiment::Trial& settings() const { return rows.front().configuration.trial; }
};

/// A split that was measured over every network of a family, and the network where it does worst.
struct RobustCandidate {
  std::vector<std::size_t> rows;  ///< parallel to the family's groups
  double worst_regret = 0;        ///< relative to the best split of each network in each objective
  std::size_t worst_group = 0;    ///< index into the family's groups
  std::size_t worst_objective = 0;
};

/// Groups that differ only in their network.
struct NetworkFamily {
  std::vector<std::size_t> groups;          ///< indices into the report's, two or more
  std::vector<RobustCandidate> candidates;  ///< compared over every network, by ascending split points
  std::optional<std::size_t> robust;        ///< the candidate with the least worst regret
};

struct FrontierOptions {
  std::vector<Constraint> constraints;
  /// For the hypervolume: parallel to the objectives, or empty. Missing values are the worst of each group.
  std::vector<std::optional<double>> reference;
  std::uint64_t seed = 1;  ///< of all resampling
};

/// One frontier for each group: the content of every output format.
struct FrontierReport {
  std::vector<Objective> objectives;
  FrontierOptions options;
  std::vector<FrontierGroup> groups;
  std::vector<NetworkFamily> families;

  bool has_objective(std::string_view metric) const;  ///< by the metric's name
};

/// `replaced`: earlier records of the same trials, which were measured again. They are mentioned but enter no number.
FrontierReport make_frontier_report(std::span<const record::TrialRecord> records, std::vector<Objective> objectives,
                                    FrontierOptions options = {}, std::span<const record::TrialRecord> replaced = {});

}  // namespace paretopipe::frontier
