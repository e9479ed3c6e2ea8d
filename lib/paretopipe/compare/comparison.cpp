#include <paretopipe/compare/comparison.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/record/machine.hpp>
#include <paretopipe/report/format.hpp>

#include <algorithm>
#include <unordered_map>

#include <fmt/ranges.h>  // fmt::join, from fmt 11 on

namespace paretopipe::compare {
namespace {

using Configurations = std::vector<stats::Configuration>;

Configurations configurations_of(const Side& side) {
  Configurations all;
  for (auto& group : stats::aggregate(side.records)) {
    for (auto& configuration : group.configurations) all.push_back(std::move(configuration));
  }
  return all;
}

std::vector<std::string> machines_of(const Side& side) {
  std::vector<std::string> machines;
  for (const auto& record : side.records) {
    if (record.status != record::Status::ok) continue;
    for (auto& machine : record::machines_of(record)) {
      if (std::find(machines.begin(), machines.end(), machine) == machines.end())
        machines.push_back(std::move(machine));
    }
  }
  return machines;
}

std::vector<double> values_of(const Side& side, const stats::Configuration& configuration,
                              const record::Metric& metric) {
  std::vector<double> values;
  for (const auto index : configuration.ok) {
    if (const auto value = metric.value(side.records[index])) values.push_back(*value);
  }
  return values;
}

Repetitions repetitions_of(const stats::Configuration& configuration) {
  return {configuration.ok.size(), configuration.failed.size(), configuration.invalid.size()};
}

/// Every number gets draws of its own, and the same ones in every run.
std::uint64_t seed_of(const plan::Trial& trial, const record::Metric& metric) {
  return fnv1a64(fmt::format("{} {}", trial.configuration_id(), metric.name));
}

struct SideOfConfiguration {
  const Side& side;
  const stats::Configuration& configuration;

  std::vector<double> values(const record::Metric& metric) const { return values_of(side, configuration, metric); }
};

ConfigurationChange change_between(const SideOfConfiguration& base, const SideOfConfiguration& now,
                                   const Comparison& comparison) {
  const auto& trial = base.configuration.trial;
  ConfigurationChange change{trial, repetitions_of(base.configuration), repetitions_of(now.configuration), {}, {}};
  for (const auto* metric : comparison.request.metrics) {
    change.changes.push_back(judge(*metric, base.values(*metric), now.values(*metric), now.configuration.ok.empty(),
                                   seed_of(trial, *metric)));
  }
  for (std::size_t i = 0; i < comparison.request.rules.size(); ++i) {
    change.outcomes.push_back(apply(comparison.request.rules[i], comparison.change_of(change, i)));
  }
  return change;
}

/// "batch (1 and 8)" for every setting in which two trials differ.
std::vector<std::string> differing_settings(const plan::Trial& base, const plan::Trial& now) {
  auto left = report::settings_of(base);
  auto right = report::settings_of(now);
  left.push_back({"model", base.model});
  right.push_back({"model", now.model});
  left.push_back({"split", report::split_number(base)});
  right.push_back({"split", report::split_number(now)});
  std::vector<std::string> differing;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i].value == right[i].value) continue;
    differing.push_back(report::printable(fmt::format("{} ({} and {})", left[i].name, left[i].value, right[i].value)));
  }
  return differing;
}

[[noreturn]] void refuse_strangers(const Side& base, const Side& now, const Configurations& bases,
                                   const Configurations& news) {
  const auto counts = fmt::format("no configuration is in both {} and {}: they have {} and {}", base.name, now.name,
                                  bases.size(), news.size());
  if (bases.empty() || news.empty()) throw UsageError(counts);
  throw UsageError(
      fmt::format("{}, and the first ones differ in {}; compare measures trials again that were measured before",
                  counts, fmt::join(differing_settings(bases.front().trial, news.front().trial), ", ")));
}

}  // namespace

std::size_t Comparison::count(Outcome outcome) const {
  std::size_t found = 0;
  for (const auto& configuration : configurations) {
    found +=
        static_cast<std::size_t>(std::count(configuration.outcomes.begin(), configuration.outcomes.end(), outcome));
  }
  return found;
}

const Change& Comparison::change_of(const ConfigurationChange& configuration, std::size_t rule) const {
  const auto& metrics = request.metrics;
  const auto place = std::find(metrics.begin(), metrics.end(), request.rules[rule].metric) - metrics.begin();
  return configuration.changes[static_cast<std::size_t>(place)];
}

bool Comparison::regression() const {
  if (count(Outcome::broken) > 0) return true;
  return request.strict && (count(Outcome::undecided) > 0 || !only_base.empty());
}

Comparison compare(const Side& base, const Side& now, Request request) {
  const auto bases = configurations_of(base);
  const auto news = configurations_of(now);
  std::unordered_map<std::string, const stats::Configuration*> unpaired;
  for (const auto& configuration : news) unpaired.emplace(configuration.trial.configuration_id(), &configuration);

  Comparison comparison{std::move(request), base.name, now.name, machines_of(base), machines_of(now), {}, {}, {}};
  for (const auto& configuration : bases) {
    const auto found = unpaired.extract(configuration.trial.configuration_id());
    if (found.empty()) {
      comparison.only_base.push_back(configuration.trial);
      continue;
    }
    comparison.configurations.push_back(change_between({base, configuration}, {now, *found.mapped()}, comparison));
  }
  if (comparison.configurations.empty()) refuse_strangers(base, now, bases, news);
  for (const auto& configuration : news) {
    if (unpaired.contains(configuration.trial.configuration_id())) comparison.only_new.push_back(configuration.trial);
  }
  return comparison;
}

}  // namespace paretopipe::compare
