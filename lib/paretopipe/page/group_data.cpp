#include <paretopipe/stats/bootstrap.hpp>
#include <paretopipe/stats/quantile.hpp>

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "page_parts.hpp"

namespace paretopipe::page {
namespace {

/// Calls `visit` for every ok record of the group.
template <class Visit>
void for_each_ok(Records records, const report::FrontierGroup& group, Visit visit) {
  for (const auto& row : group.rows) {
    for (const auto index : row.configuration.ok) visit(records[index]);
  }
}

/// The bytes that cross each cut, by its depth in the network. Leaves out the way back.
Json activations_data(Records records, const report::FrontierGroup& group) {
  std::map<int, std::int64_t> bytes_at;
  for_each_ok(records, group, [&](const record::TrialRecord& record) {
    if (record.trial.data_parallel > 0) return;
    for (const auto& link : record.links) {
      if (link.to != link.from + 1 || link.from >= static_cast<int>(record.trial.split_points.size())) continue;
      bytes_at[record.trial.split_points[static_cast<std::size_t>(link.from)]] = link.payload_bytes;
    }
  });
  auto activations = Json::array();
  for (const auto& [split, bytes] : bytes_at) activations.push_back({split, bytes});
  return activations;
}

/// What the probes measured of the group's network: medians over its trials, and how long before its trial the youngest
/// and the oldest probe ended.
Json evidence_data(Records records, const report::FrontierGroup& group) {
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
std::size_t fewest_repetitions(const report::FrontierGroup& group) {
  std::size_t fewest = 0;
  for (const auto& row : group.rows) {
    const auto count = row.configuration.ok.size();
    if (count > 0) fewest = fewest == 0 ? count : std::min(fewest, count);
  }
  return fewest;
}

std::string network_name(const plan::Trial& trial) {
  if (trial.shaping == config::Shaping::none) return trial.network.name;
  return fmt::format("{} ({})", trial.network.name, to_string(trial.shaping));
}

}  // namespace

Json group_data(Records records, const report::FrontierGroup& group) {
  const auto& trial = group.settings();
  auto splits = Json::array();
  for (const auto& row : group.rows) splits.push_back(split_data(records, group, row));
  const auto repetitions = fewest_repetitions(group);
  Json json{{"title", report::group_title(trial)},
            {"model", trial.model},
            {"batch", trial.batch},
            {"micro_batch", trial.images_per_micro_batch()},
            {"depth", trial.depth},
            {"threads_per_stage", trial.threads_per_stage},
            {"load", trial.server ? to_string(*trial.server) : "none"},
            {"network", network_name(trial)},
            {"conditions", config::describe(trial.network)},
            {"evidence", evidence_data(records, group)},
            {"settings", to_json(report::settings_of(trial))},
            {"repetitions", repetitions},
            {"coverage_bound", stats::coverage_bound(repetitions)},
            {"splits", std::move(splits)},
            {"activations", activations_data(records, group)}};
  if (!group.incidents.empty()) json["disturbances"] = disturbances_data(group);
  return json;
}

}  // namespace paretopipe::page
