#include <paretopipe/analysis/stats/bootstrap.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/record/metric.hpp>
#include <paretopipe/render/render_prediction.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "page_parts.hpp"

namespace paretopipe::page {

namespace {

/// Calls `visit` for every ok record of the group.
template <class Visit>
void for_each_ok(Records records, const frontier::FrontierGroup& group, Visit visit) {
  for (const auto& row : group.rows) {
    for (const auto index : row.configuration.ok) visit(records[index]);
  }
}

/// The bytes of the activations at each cut, before any codec, by its depth in the network. Leaves out the way back.
Json activations_data(Records records, const frontier::FrontierGroup& group) {
  std::map<int, std::int64_t> bytes_at;
  for_each_ok(records, group, [&](const record::TrialRecord& record) {
    if (record.trial.data_parallel > 0) return;
    for (const auto& link : record.links) {
      if (link.to != link.from + 1 || link.from >= static_cast<int>(record.trial.split_points.size())) continue;
      bytes_at[record.trial.split_points[static_cast<std::size_t>(link.from)]] =
          link.unencoded_bytes.value_or(link.payload_bytes);
    }
  });
  auto activations = Json::array();
  for (const auto& [split, bytes] : bytes_at) activations.push_back({split, bytes});
  return activations;
}

/// What the probes measured of the group's network: medians over its trials, and how long before its trial the youngest
/// and the oldest probe ended.
Json evidence_data(Records records, const frontier::FrontierGroup& group) {
  std::vector<double> round_trips, forward, backward;
  std::vector<std::int64_t> before_trials;
  for_each_ok(records, group, [&](const record::TrialRecord& record) {
    if (!record.network) return;
    const auto& seen = *record.network;
    if (seen.round_trip_ns) round_trips.push_back(static_cast<double>(*seen.round_trip_ns));
    if (seen.forward_bit_per_s) forward.push_back(*seen.forward_bit_per_s);
    if (seen.backward_bit_per_s) backward.push_back(*seen.backward_bit_per_s);
    for (const auto& probe : seen.probes) before_trials.push_back(probe.before_trial_ns);
  });
  auto evidence = Json::object();
  const auto add = [&](const char* name, std::vector<double> values) {
    if (const auto median = stats::median(std::move(values))) evidence[name] = *median;
  };
  add("round_trip_ns", std::move(round_trips));
  add("forward_bit_per_s", std::move(forward));
  add("backward_bit_per_s", std::move(backward));
  if (!before_trials.empty()) {
    const auto [youngest, oldest] = std::minmax_element(before_trials.begin(), before_trials.end());
    evidence["probed_before_ns"] = {*youngest, *oldest};
  }
  return evidence;
}

/// The number of repetitions of the split that was measured least often, which has the least certain interval; 0 if
/// none was measured.
std::size_t fewest_repetitions(const frontier::FrontierGroup& group) {
  std::size_t fewest = 0;
  for (const auto& row : group.rows) {
    const auto count = row.configuration.ok.size();
    if (count > 0) fewest = fewest == 0 ? count : std::min(fewest, count);
  }
  return fewest;
}

std::string network_name(const experiment::Trial& trial) {
  if (trial.shaping == experiment::Shaping::none) return trial.network.name;
  return fmt::format("{} ({})", trial.network.name, to_string(trial.shaping));
}

}  // namespace

Json group_data(Records records, const frontier::FrontierGroup& group) {
  const auto& trial = group.settings();
  auto splits = Json::array();
  for (const auto& row : group.rows) splits.push_back(split_data(records, group, row));
  const auto repetitions = fewest_repetitions(group);
  Json json{{"title", record::group_title(trial)},
            {"model", trial.model},
            {"batch", trial.batch},
            {"micro_batch", trial.images_per_micro_batch()},
            {"depth", trial.depth},
            {"threads_per_stage", trial.threads_per_stage},
            {"load", trial.server ? to_string(*trial.server) : "none"},
            {"network", network_name(trial)},
            {"conditions", experiment::describe(trial.network)},
            {"evidence", evidence_data(records, group)},
            {"settings", to_json(record::settings_of(trial))},
            {"repetitions", repetitions},
            {"coverage_bound", stats::coverage_bound(repetitions)},
            {"splits", std::move(splits)},
            {"activations", activations_data(records, group)}};
  if (!group.incidents.empty()) json["disturbances"] = disturbances_data(group);
  return json;
}

namespace {

/// [median] or [median, low, high]
Json metric_data(Records records, const std::vector<std::size_t>& chosen, const record::Metric& metric, double median) {
  std::vector<double> values;
  for (const auto index : chosen) {
    if (const auto value = metric.value(records[index])) values.push_back(*value);
  }
  auto json = Json::array({median});
  if (const auto interval = stats::median_interval(values, frontier::FrontierOptions{}.seed)) {
    json.push_back(interval->low);
    json.push_back(interval->high);
  }
  return json;
}

Json metrics_data(Records records, const stats::Configuration& configuration) {
  auto json = Json::object();
  for (const auto& metric : record::metrics()) {
    const auto median = configuration.median(metric);
    if (median) json[std::string(metric.name)] = metric_data(records, configuration.ok, metric, *median);
  }
  return json;
}

/// The most by which a transfer's time can be wrong because its ends were read on two clocks, in any repetition.
std::optional<std::int64_t> clock_error_of(const record::PartSummary& part, Records records,
                                           const std::vector<std::size_t>& chosen) {
  if (part.part != record::Part::transfer) return std::nullopt;
  std::optional<std::int64_t> largest;  // none is less than any number
  for (const auto index : chosen) {
    const auto stages = static_cast<int>(records[index].stages.size());
    if (stages < 2) continue;
    largest = std::max(largest, record::clock_error_ns(records[index], (part.stage + stages - 1) % stages, part.stage));
  }
  return largest;
}

/// Means over the repetitions: unlike medians, they add up to the mean of the mean latencies.
Json breakdown_data(Records records, const std::vector<std::size_t>& chosen) {
  std::vector<record::PartSummary> sums;
  for (const auto index : chosen) {
    for (const auto& part : records[index].summary->breakdown) {
      const auto same = [&](const auto& sum) { return sum.part == part.part && sum.stage == part.stage; };
      const auto sum = std::find_if(sums.begin(), sums.end(), same);
      if (sum == sums.end()) {
        sums.push_back(part);
      } else {
        sum->mean_ns += part.mean_ns;
      }
    }
  }
  auto json = Json::array();
  for (const auto& sum : sums) {
    Json part{{"part", sum.part}, {"stage", sum.stage}, {"ns", sum.mean_ns / static_cast<double>(chosen.size())}};
    if (const auto error = clock_error_of(sum, records, chosen)) part["clock_error_ns"] = *error;
    json.push_back(std::move(part));
  }
  return json;
}

/// Each stage's utilisation, from the phase or the steps that tell it.
std::vector<double> utilisation_of(const record::Summary& summary) {
  std::vector<double> stages;
  for (const auto& stage : summary.stages) stages.push_back(stage.utilisation);
  if (!summary.training) return stages;
  for (const auto& stage : summary.training->stages) stages.push_back(stage.utilisation());
  return stages;
}

/// One median over the repetitions for each stage.
Json utilisation_data(Records records, const std::vector<std::size_t>& chosen) {
  std::vector<std::vector<double>> stages;
  for (const auto index : chosen) {
    const auto of_trial = utilisation_of(*records[index].summary);
    stages.resize(std::max(stages.size(), of_trial.size()));
    for (std::size_t stage = 0; stage < of_trial.size(); ++stage) stages[stage].push_back(of_trial[stage]);
  }
  auto json = Json::array();
  for (auto& values : stages) json.push_back(*stats::median(std::move(values)));
  return json;
}

}  // namespace

Json split_data(Records records, const frontier::FrontierGroup& group, const frontier::FrontierRow& row) {
  const auto& configuration = row.configuration;
  Json json{{"split", record::cut_name(configuration.trial)},
            {"label", record::split_label(configuration.trial)},
            {"ok", configuration.ok.size()},
            {"failed", configuration.failed.size()},
            {"invalid", configuration.invalid.size()}};
  if (row.is_split() && row.complete()) json["on_frontier"] = row.on_frontier;
  if (row.frontier_probability) json["frontier_probability"] = *row.frontier_probability;
  if (row.dominated_by) json["dominated_by"] = record::cut_name(group.rows[*row.dominated_by].configuration.trial);
  auto reasons = row.failures;
  reasons.insert(reasons.end(), row.deviations.begin(), row.deviations.end());
  json["reasons"] = std::move(reasons);
  if (row.speed_ups.single) json["speed_up_single"] = *row.speed_ups.single;
  if (row.speed_ups.sequential) json["speed_up_sequential"] = *row.speed_ups.sequential;
  if (row.speed_ups.data_parallel) json["speed_up_data_parallel"] = *row.speed_ups.data_parallel;
  json["metrics"] = metrics_data(records, configuration);
  // Charts by stage have no place for data parallelism, which has no stages.
  json["baseline"] = !row.is_split();
  json["breakdown"] = row.is_split() ? breakdown_data(records, configuration.ok) : Json::array();
  json["utilisation"] = row.is_split() ? utilisation_data(records, configuration.ok) : Json::array();
  return json;
}

void add_predictions(Json& splits, const frontier::FrontierGroup& group,
                     std::span<const predict::VerifiedGroup> predictions) {
  const auto band = [](const predict::Band& number) { return Json{number.value, number.low, number.high}; };
  for (std::size_t row = 0; row < group.rows.size(); ++row) {
    const auto& trial = group.rows[row].configuration.trial;
    for (const auto& [question, verification] : predictions) {
      if (!predict::concerns(question, trial)) continue;
      for (const auto& split : verification.splits) {
        if (split.cut != trial.cut()) continue;
        splits[row]["predicted"] = {{"latency_p50", band(split.predicted.latency_ns)},
                                    {"throughput", band(split.predicted.throughput_image_per_s)},
                                    {"missed", render::missed_text(split)}};
      }
    }
  }
}

}  // namespace paretopipe::page
