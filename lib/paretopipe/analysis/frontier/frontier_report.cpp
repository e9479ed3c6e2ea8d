#include <paretopipe/analysis/frontier/frontier.hpp>
#include <paretopipe/analysis/frontier/frontier_report.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/record/metric.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "confidence.hpp"
#include "recommendation.hpp"

namespace paretopipe::frontier {

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

Baselines find_baselines(std::span<const stats::Configuration> group) {
  return {find_measured(group, [](const experiment::Trial& trial) { return trial.all_local(); }),
          find_measured(group, [](const experiment::Trial& trial) { return trial.data_parallel > 0; })};
}

SpeedUps speed_ups_of(const stats::Configuration& configuration, const Baselines& baselines) {
  const auto& throughput = record::find_metric("throughput");
  const auto own = configuration.median(throughput);
  SpeedUps speed_ups;
  const auto over = [&](const stats::Configuration* baseline) {
    return baseline == nullptr ? std::nullopt : ratio(own, baseline->median(throughput));
  };
  speed_ups.single = over(baselines.single);
  speed_ups.data_parallel = over(baselines.data_parallel);
  speed_ups.sequential = ratio(own, configuration.median(record::find_metric("throughput_sequential")));
  return speed_ups;
}

namespace {

std::vector<std::string> distinct_reasons(std::span<const record::TrialRecord> records,
                                          const std::vector<std::size_t>& chosen) {
  std::vector<std::string> reasons;
  for (const auto index : chosen) {
    const auto& failure = records[index].failure;
    auto reason = failure ? record::describe(*failure) : "no reason was recorded";
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(std::move(reason));
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

/// Every record belongs to the group of its trial, where a replaced one has its successor.
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
    const auto baselines = find_baselines(measured.configurations);
    for (const auto& configuration : measured.configurations) {
      group.rows.push_back(make_row(records, configuration, report));
      group.rows.back().speed_ups = speed_ups_of(configuration, baselines);
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
