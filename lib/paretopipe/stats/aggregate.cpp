#include <paretopipe/stats/aggregate.hpp>
#include <paretopipe/stats/quantile.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace paretopipe::stats {
namespace {

/// The element of `items` for `key`; added on the first request.
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
std::pair<int, std::vector<int>> place_of(const plan::Trial& trial) {
  return {trial.data_parallel, trial.split_points};
}

/// Orders groups by model and network first, as people read tables, and then by all other settings, numbers as numbers.
struct GroupPlace {
  std::string model;
  std::string network;
  nlohmann::json settings;
  bool operator<(const GroupPlace& other) const {
    return std::tie(model, network, settings) < std::tie(other.model, other.network, other.settings);
  }
};

void sort_groups(std::vector<ConfigurationGroup>& groups) {
  std::vector<std::pair<GroupPlace, ConfigurationGroup>> placed;
  for (auto& group : groups) {
    const auto settings = group.settings().without_split();
    placed.emplace_back(GroupPlace{settings.model, settings.network.name, settings}, std::move(group));
  }
  std::sort(placed.begin(), placed.end(), [](const auto& left, const auto& right) { return left.first < right.first; });
  std::transform(placed.begin(), placed.end(), groups.begin(), [](auto& place) { return std::move(place.second); });
}

std::vector<std::optional<double>> medians_of(std::span<const record::TrialRecord> records,
                                              const std::vector<std::size_t>& chosen) {
  std::vector<std::optional<double>> medians;
  for (const auto& metric : record::metrics()) {
    std::vector<double> values;
    for (const auto index : chosen) {
      if (const auto value = metric.value(records[index])) values.push_back(*value);
    }
    medians.push_back(median(std::move(values)));
  }
  return medians;
}

}  // namespace

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
    configuration.medians = medians_of(records, configuration.ok);
    auto& group = find_or_add(groups, group_places, configuration.trial.group_id());
    group.configurations.push_back(std::move(configuration));
  }
  for (auto& group : groups) {
    std::sort(group.configurations.begin(), group.configurations.end(),
              [](const auto& left, const auto& right) { return place_of(left.trial) < place_of(right.trial); });
  }
  sort_groups(groups);
  return groups;
}

}  // namespace paretopipe::stats
