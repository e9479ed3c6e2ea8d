#include <paretopipe/analysis/stats/quantile.hpp>

#include <map>
#include <string>
#include <vector>

#include "page_parts.hpp"

namespace paretopipe::page {

namespace {

/// The measurements of one split at one rate, over the repetitions.
using Summaries = std::vector<const record::ServerSummary*>;

/// The groups that differ only in their load, in their original order.
std::vector<std::vector<std::size_t>> families(const std::vector<frontier::FrontierGroup>& groups) {
  std::map<std::string, std::size_t> place_of;
  std::vector<std::vector<std::size_t>> found;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    auto settings = groups[i].settings();
    if (!settings.server) continue;
    settings.server.reset();
    const auto [place, is_new] = place_of.try_emplace(settings.group_id(), found.size());
    if (is_new) found.emplace_back();
    found[place->second].push_back(i);
  }
  return found;
}

/// Medians over the repetitions. A rate counts as saturated if most repetitions were.
Json point(double rate, const Summaries& summaries) {
  const auto median = [&](auto value) {
    std::vector<double> values;
    for (const auto* summary : summaries) values.push_back(value(*summary));
    return *stats::median(std::move(values));
  };
  const auto latency = [&](double record::Distribution::*statistic) {
    return median([&](const auto& summary) { return summary.latency.*statistic; });
  };
  return {{"rate", rate},
          {"achieved", median([](const auto& summary) { return summary.achieved_image_per_s; })},
          {"saturated", median([](const auto& summary) { return summary.saturated ? 1.0 : 0.0; }) > 0.5},
          {"repetitions", summaries.size()},
          {"mean", latency(&record::Distribution::mean_ns)},
          {"p50", latency(&record::Distribution::p50_ns)},
          {"p90", latency(&record::Distribution::p90_ns)},
          {"p95", latency(&record::Distribution::p95_ns)},
          {"p99", latency(&record::Distribution::p99_ns)},
          {"max", latency(&record::Distribution::max_ns)}};
}

struct Curve {
  Json heading;
  std::map<double, Summaries> at{};  ///< by rate
};

void add_runs(Curve& curve, Records records, const stats::Configuration& configuration) {
  for (const auto index : configuration.ok) {
    if (!records[index].server) continue;
    for (const auto& run : records[index].server->runs) curve.at[run.rate_image_per_s].push_back(&run.summary);
  }
}

Json curve_data(Curve curve) {
  auto json = std::move(curve.heading);
  json["points"] = Json::array();
  for (const auto& [rate, summaries] : curve.at) json["points"].push_back(point(rate, summaries));
  return json;
}

/// In ascending order of split points.
Json curves_data(Records records, const std::vector<frontier::FrontierGroup>& groups,
                 const std::vector<std::size_t>& family) {
  std::map<experiment::Cut, Curve> curves;
  for (const auto index : family) {
    for (const auto& row : groups[index].rows) {
      const auto& trial = row.configuration.trial;
      const Json heading{{"split", record::cut_name(trial)}, {"label", record::split_label(trial)}};
      add_runs(curves.try_emplace(trial.cut(), Curve{heading}).first->second, records, row.configuration);
    }
  }
  auto json = Json::array();
  for (auto& [points, curve] : curves) {
    if (!curve.at.empty()) json.push_back(curve_data(std::move(curve)));
  }
  return json;
}

/// The limits that searches for the highest rate had to keep.
Json bounds_data(const std::vector<frontier::FrontierGroup>& groups, const std::vector<std::size_t>& family) {
  auto bounds = Json::array();
  for (const auto index : family) {
    const auto& bound = groups[index].settings().server->bound;
    if (bound) bounds.push_back({{"statistic", bound->statistic}, {"limit_ns", bound->limit_ns}});
  }
  return bounds;
}

}  // namespace

Json loads_data(Records records, const std::vector<frontier::FrontierGroup>& groups) {
  auto json = Json::array();
  for (const auto& family : families(groups)) {
    auto curves = curves_data(records, groups, family);
    if (curves.empty()) continue;
    json.push_back({{"groups", family}, {"bounds", bounds_data(groups, family)}, {"curves", std::move(curves)}});
  }
  return json;
}

}  // namespace paretopipe::page
