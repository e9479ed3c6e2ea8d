#include <paretopipe/analysis/stats/aggregate.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace paretopipe::stats {

namespace {

/// The element of `items` that belongs to `key`. The first request makes it.
template <class T>
T& find_or_add(std::vector<T>& items, std::unordered_map<std::string, std::size_t>& places, const std::string& key) {
  const auto [place, added] = places.try_emplace(key, items.size());
  if (added) items.emplace_back();
  return items[place->second];
}

std::vector<std::size_t>& records_of(Configuration& configuration, record::Status status) {
  switch (status) {
    case record::Status::ok:
      return configuration.ok;
    case record::Status::invalid:
      return configuration.invalid;
    case record::Status::failed:
      break;
  }
  return configuration.failed;
}

/// Data parallelism, which is no split, comes last.
std::pair<int, experiment::Cut> place_of(const experiment::Trial& trial) {
  return {trial.data_parallel, trial.cut()};
}

}  // namespace

void Configuration::count_medians(std::span<const record::TrialRecord> records) {
  medians.clear();
  for (const auto& metric : record::metrics()) {
    std::vector<double> values;
    for (const auto index : ok) {
      if (const auto value = metric.value(records[index])) values.push_back(*value);
    }
    medians.push_back(stats::median(std::move(values)));
  }
}

std::optional<double> Configuration::median(const record::Metric& metric) const {
  return medians[static_cast<std::size_t>(&metric - record::metrics().data())];
}

std::vector<ConfigurationGroup> aggregate(std::span<const record::TrialRecord> records) {
  std::vector<Configuration> configurations;
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto& record = records[i];
    auto& configuration = find_or_add(configurations, places, record.trial.configuration_id());
    if (configuration.count() == 0) configuration.trial = record.trial;
    records_of(configuration, record.status).push_back(i);
  }

  std::vector<ConfigurationGroup> groups;
  std::unordered_map<std::string, std::size_t> group_places;
  for (auto& configuration : configurations) {
    configuration.count_medians(records);
    auto& group = find_or_add(groups, group_places, configuration.trial.group_id());
    group.configurations.push_back(std::move(configuration));
  }
  for (auto& group : groups) {
    std::sort(group.configurations.begin(), group.configurations.end(),
              [](const auto& left, const auto& right) { return place_of(left.trial) < place_of(right.trial); });
  }
  return groups;
}

}  // namespace paretopipe::stats
