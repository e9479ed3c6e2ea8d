#include <paretopipe/analysis/frontier/frontier.hpp>
#include <paretopipe/analysis/frontier/frontier_report.hpp>
#include <paretopipe/analysis/frontier/objective.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/record/metric.hpp>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "report_parts.hpp"

namespace paretopipe::frontier {

namespace {

using Columns = std::vector<std::vector<double>>;

/// A compared row's medians, resample by resample.
struct Resampled {
  std::size_t repetitions = 0;  ///< that have every objective; 0 if the row takes no part
  Columns medians;              ///< [objective][resample]
};

/// Depends only on the configuration, so that more splits do not change its interval.
std::uint64_t seed_of(const stats::Configuration& configuration, std::uint64_t seed) {
  auto trial = configuration.trial;
  trial.repetition = 0;
  return fnv1a64(fmt::format("{}/{}", seed, trial.id()));
}

void add_intervals(FrontierRow& row, std::span<const record::TrialRecord> records,
                   const std::vector<Objective>& objectives, std::uint64_t seed) {
  for (const auto& objective : objectives) {
    std::vector<double> values;
    for (const auto index : row.configuration.ok) {
      if (const auto value = objective.metric->value(records[index])) values.push_back(*value);
    }
    row.intervals.push_back(stats::median_interval(values, seed));
  }
}

/// Resamples the repetitions that have every objective.
Resampled resample(const FrontierRow& row, std::span<const record::TrialRecord> records,
                   const std::vector<Objective>& objectives, std::uint64_t seed) {
  if (!row.compared()) return {};
  Columns values(objectives.size());
  for (const auto index : row.configuration.ok) {
    std::vector<double> repetition;
    for (const auto& objective : objectives) {
      if (const auto value = objective.metric->value(records[index])) repetition.push_back(*value);
    }
    if (repetition.size() < objectives.size()) continue;
    for (std::size_t i = 0; i < repetition.size(); ++i) values[i].push_back(repetition[i]);
  }
  if (values.front().empty()) return {};
  return {values.front().size(), stats::resampled_medians(values, seed)};
}

/// One joint resample of the participating rows: [objective][position among them].
Columns columns_of(const std::vector<Resampled>& resampled, const std::vector<std::size_t>& rows,
                   std::size_t objectives, std::size_t resample) {
  Columns columns(objectives);
  for (std::size_t i = 0; i < objectives; ++i) {
    for (const auto row : rows) columns[i].push_back(resampled[row].medians[i][resample]);
  }
  return columns;
}

std::vector<std::size_t> frontier_of(const Columns& columns, const std::vector<Sense>& senses) {
  Points points(senses);
  points.reserve(columns.front().size());
  std::vector<std::optional<double>> values(columns.size());
  for (std::size_t point = 0; point < columns.front().size(); ++point) {
    for (std::size_t i = 0; i < columns.size(); ++i) values[i] = columns[i][point];
    points.add(values);
  }
  return find_frontier(points).members;
}

std::size_t balanced_of(const Columns& columns, const std::vector<Sense>& senses) {
  Columns regrets;
  for (std::size_t i = 0; i < columns.size(); ++i) regrets.push_back(relative_regret(senses[i], columns[i]));
  return least_worst(regrets)->option;
}

void add_probabilities(FrontierGroup& group, const std::vector<Resampled>& resampled,
                       const std::vector<Sense>& senses) {
  std::vector<std::size_t> rows;  // the participating ones
  for (std::size_t row = 0; row < resampled.size(); ++row) {
    if (resampled[row].repetitions > 0) rows.push_back(row);
  }
  if (rows.empty()) return;
  std::vector<int> on_frontier(rows.size()), balanced(rows.size());
  for (std::size_t resample = 0; resample < stats::kResamples; ++resample) {
    const auto columns = columns_of(resampled, rows, senses.size(), resample);
    for (const auto member : frontier_of(columns, senses)) ++on_frontier[member];
    ++balanced[balanced_of(columns, senses)];
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (resampled[rows[i]].repetitions < 2) continue;
    group.rows[rows[i]].frontier_probability = static_cast<double>(on_frontier[i]) / stats::kResamples;
    group.rows[rows[i]].balanced_probability = static_cast<double>(balanced[i]) / stats::kResamples;
  }
}

/// The 95 % interval of the difference excludes zero: less than 2.5 % of the differences lie at or beyond it.
bool differ(const std::vector<double>& left, const std::vector<double>& right) {
  const double enough = 0.025 * static_cast<double>(left.size());
  int not_below = 0, not_above = 0;
  for (std::size_t resample = 0; resample < left.size(); ++resample) {
    not_below += left[resample] >= right[resample];
    not_above += left[resample] <= right[resample];
    if (std::min(not_below, not_above) >= enough) return false;  // most pairs of many rows end here, early
  }
  return true;
}

bool differ_in_one(const Resampled& left, const Resampled& right) {
  for (std::size_t i = 0; i < left.medians.size(); ++i) {
    if (differ(left.medians[i], right.medians[i])) return true;
  }
  return false;
}

void add_alike(FrontierGroup& group, const std::vector<Resampled>& resampled) {
  for (std::size_t right = 0; right < resampled.size(); ++right) {
    for (std::size_t left = 0; left < right; ++left) {
      if (std::min(resampled[left].repetitions, resampled[right].repetitions) < 2) continue;
      if (differ_in_one(resampled[left], resampled[right])) continue;
      group.rows[left].alike.push_back(right);
      group.rows[right].alike.push_back(left);
    }
  }
  for (auto& row : group.rows) std::sort(row.alike.begin(), row.alike.end());
}

}  // namespace

void add_confidence(FrontierGroup& group, std::span<const record::TrialRecord> records,
                    const std::vector<Objective>& objectives, std::uint64_t seed) {
  std::vector<Resampled> resampled;
  for (auto& row : group.rows) {
    const auto own_seed = seed_of(row.configuration, seed);
    add_intervals(row, records, objectives, own_seed);
    resampled.push_back(resample(row, records, objectives, own_seed));
  }
  add_probabilities(group, resampled, senses_of(objectives));
  add_alike(group, resampled);
}

namespace {

std::optional<double> ratio(const std::optional<double>& value, const std::optional<double>& baseline) {
  if (!value || !baseline || *baseline <= 0) return std::nullopt;
  return *value / *baseline;
}

template <class Predicate>
const stats::Configuration* find_measured(std::span<const stats::Configuration> group, Predicate is_it) {
  const auto found =
      std::find_if(group.begin(), group.end(), [&](const auto& one) { return is_it(one.trial) && !one.ok.empty(); });
  return found == group.end() ? nullptr : &*found;
}

}  // namespace

Baselines find_baselines(std::span<const stats::Configuration> group, const std::string& way_of_training) {
  const auto alike = [&](const experiment::Trial& trial) { return trial.way_of_training() == way_of_training; };
  return {find_measured(group, [&](const auto& trial) { return trial.all_local() && alike(trial); }),
          find_measured(group, [&](const auto& trial) { return trial.data_parallel > 0 && alike(trial); })};
}

SpeedUps speed_ups_of(const stats::Configuration& configuration, const Baselines& baselines) {
  const bool trains = configuration.trial.training.has_value();
  const auto& throughput = record::find_metric(trains ? "training_throughput" : "throughput");
  const auto own = configuration.median(throughput);
  const auto over = [&](const stats::Configuration* baseline) {
    return baseline == nullptr ? std::nullopt : ratio(own, baseline->median(throughput));
  };
  return {.single = over(baselines.single),
          .sequential = ratio(own, configuration.median(record::find_metric("throughput_sequential"))),
          .data_parallel = over(baselines.data_parallel)};
}

namespace {

std::vector<std::string> distinct_reasons(std::span<const record::TrialRecord> records,
                                          const std::vector<std::size_t>& chosen) {
  std::vector<std::string> reasons;
  for (const auto index : chosen) {
    const auto& failure = records[index].failure;
    add_once(reasons, failure ? record::describe(*failure) : "no reason was recorded");
  }
  return reasons;
}

std::vector<std::string> violations_of(const stats::Configuration& configuration,
                                       const std::vector<Constraint>& constraints) {
  std::vector<std::string> violations;
  if (configuration.ok.empty()) return violations;
  for (const auto& constraint : constraints) {
    if (constraint.metric == nullptr) {
      if (constraint.holds_for_codec(configuration.trial)) continue;
      violations.push_back(
          fmt::format("its codec is {}, and {} is asked for", configuration.trial.codec, constraint.label()));
      continue;
    }
    const auto& metric = *constraint.metric;
    const auto value = configuration.median(metric);
    if (value && constraint.holds(*value)) continue;
    const auto phases = configuration.trial.phases;
    const auto why =
        metric.measured_by(phases) ? "" : fmt::format(" (it was measured {})", experiment::describe(phases));
    violations.push_back(value ? fmt::format("{} is {}, not {}", metric.name, record::format_value(*value, metric.unit),
                                             constraint.label())
                               : fmt::format("it has no {}{}, so not {}", metric.name, why, constraint.label()));
  }
  return violations;
}

/// A point for every row; empty if the row is not compared.
Points points_of(const FrontierGroup& group, const std::vector<Objective>& objectives) {
  Points points(senses_of(objectives));
  const std::vector<std::optional<double>> nothing(objectives.size());
  for (const auto& row : group.rows) points.add(row.compared() ? row.values : nothing);
  return points;
}

void mark_frontier(FrontierGroup& group, const Points& points) {
  const auto found = find_frontier(points);
  for (const auto member : found.members) group.rows[member].on_frontier = true;
  for (std::size_t i = 0; i < group.rows.size(); ++i) group.rows[i].dominated_by = found.dominator[i];
}

/// The worst measured value of an objective: nothing on the group's frontier is beyond that corner.
double worst_value(const FrontierGroup& group, const FrontierReport& report, std::size_t objective) {
  std::vector<double> values;
  for (const auto& row : group.rows) {
    if (row.compared()) values.push_back(*row.values[objective]);
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return report.objectives[objective].direction == record::Direction::min ? *most : *least;
}

void measure_volume(FrontierGroup& group, const Points& points, const FrontierReport& report) {
  if (!group.recommendation) return;
  const auto& given = report.options.reference;
  for (std::size_t i = 0; i < report.objectives.size(); ++i) {
    const bool is_given = !given.empty() && given[i].has_value();
    group.reference.push_back(is_given ? *given[i] : worst_value(group, report, i));
  }
  if (report.objectives.size() <= 4) group.hypervolume = hypervolume(points, group.reference);
}

/// Every record belongs to the group of its trial. A replaced one shares that group with its successor.
void add_incidents(FrontierReport& report, std::span<const record::TrialRecord> records,
                   std::span<const record::TrialRecord> replaced) {
  std::unordered_map<std::string, FrontierGroup*> groups;
  for (auto& group : report.groups) groups[group.settings().group_id()] = &group;
  const auto add = [&](std::span<const record::TrialRecord> some, bool again) {
    for (const auto& record : some) {
      const auto group = groups.find(record.trial.group_id());
      auto incident = group == groups.end() ? std::nullopt : incident_of(record, again);
      if (incident) group->second->incidents.push_back(std::move(*incident));
    }
  };
  add(replaced, true);
  add(records, false);
  for (auto& group : report.groups) std::stable_sort(group.incidents.begin(), group.incidents.end(), comes_before);
}

FrontierRow make_row(std::span<const record::TrialRecord> records, stats::Configuration configuration,
                     const FrontierReport& report) {
  FrontierRow row;
  for (const auto& objective : report.objectives) row.values.push_back(configuration.median(*objective.metric));
  row.payload_bytes = configuration.median(record::find_metric("payload"));
  if (configuration.trial.codec != codec::kNone) {
    row.top1_kept = configuration.median(record::find_metric("top1_agreement"));
  }
  row.violations = violations_of(configuration, report.options.constraints);
  row.failures = distinct_reasons(records, configuration.failed);
  row.deviations = distinct_reasons(records, configuration.invalid);
  row.configuration = std::move(configuration);
  return row;
}

}  // namespace

bool FrontierRow::complete() const {
  return std::find(values.begin(), values.end(), std::nullopt) == values.end();
}

bool FrontierRow::compared() const {
  return is_split() && complete() && violations.empty();
}

bool FrontierReport::has_objective(std::string_view metric) const {
  return std::any_of(objectives.begin(), objectives.end(),
                     [&](const auto& objective) { return objective.metric->name == metric; });
}

FrontierReport make_frontier_report(std::span<const record::TrialRecord> records, std::vector<Objective> objectives,
                                    FrontierOptions options, std::span<const record::TrialRecord> replaced) {
  FrontierReport report{std::move(objectives), std::move(options), {}, {}};
  for (const auto& measured : stats::aggregate(records)) {
    auto& group = report.groups.emplace_back();
    std::map<std::string, Baselines> baselines;  // by the way of training
    for (const auto& configuration : measured.configurations) {
      group.rows.push_back(make_row(records, configuration, report));
      const auto way = configuration.trial.way_of_training();
      const auto [own, is_new] = baselines.try_emplace(way);
      if (is_new) own->second = find_baselines(measured.configurations, way);
      group.rows.back().speed_ups = speed_ups_of(configuration, own->second);
    }
    const auto points = points_of(group, report.objectives);
    mark_frontier(group, points);
    add_confidence(group, records, report.objectives, report.options.seed);
    group.recommendation = recommend(group, points, report.objectives);
    measure_volume(group, points, report);
  }
  add_incidents(report, records, replaced);
  report.families = make_families(report);
  return report;
}

}  // namespace paretopipe::frontier
