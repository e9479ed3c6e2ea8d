#include <paretopipe/record/metric.hpp>
#include <paretopipe/stats/bootstrap.hpp>
#include <paretopipe/stats/quantile.hpp>

#include <algorithm>
#include <utility>

#include "page_parts.hpp"

namespace paretopipe::page {
namespace {

/// [median] or [median, low, high]
Json metric_data(Records records, const std::vector<std::size_t>& chosen, const record::Metric& metric, double median) {
  std::vector<double> values;
  for (const auto index : chosen) {
    if (const auto value = metric.value(records[index])) values.push_back(*value);
  }
  auto json = Json::array({median});
  if (const auto interval = stats::median_interval(values, report::FrontierOptions{}.seed)) {
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
    json.push_back(
        {{"part", sum.part}, {"stage", sum.stage}, {"ns", sum.mean_ns / static_cast<double>(chosen.size())}});
  }
  return json;
}

/// One median over the repetitions for each stage.
Json utilisation_data(Records records, const std::vector<std::size_t>& chosen) {
  std::vector<std::vector<double>> stages;
  for (const auto index : chosen) {
    const auto& summaries = records[index].summary->stages;
    stages.resize(std::max(stages.size(), summaries.size()));
    for (std::size_t stage = 0; stage < summaries.size(); ++stage) {
      stages[stage].push_back(summaries[stage].utilisation);
    }
  }
  auto json = Json::array();
  for (auto& values : stages) json.push_back(*stats::median(std::move(values)));
  return json;
}

}  // namespace

Json split_data(Records records, const report::FrontierGroup& group, const report::FrontierRow& row) {
  const auto& configuration = row.configuration;
  Json json{{"split", report::split_number(configuration.trial)},
            {"label", report::split_label(configuration.trial)},
            {"ok", configuration.ok.size()},
            {"failed", configuration.failed.size()},
            {"invalid", configuration.invalid.size()}};
  if (row.is_split() && row.complete()) json["on_frontier"] = row.on_frontier;
  if (row.frontier_probability) json["frontier_probability"] = *row.frontier_probability;
  if (row.dominated_by) json["dominated_by"] = report::split_number(group.rows[*row.dominated_by].configuration.trial);
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

}  // namespace paretopipe::page
