#include <paretopipe/compare/comparison.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/record/machine.hpp>
#include <paretopipe/report/format.hpp>

#include <algorithm>
#include <unordered_map>

#include <fmt/ranges.h>  // fmt::join, from fmt 11 on

#include "samples.hpp"

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

Repetitions repetitions_of(const stats::Configuration& configuration) {
  return {configuration.ok.size(), configuration.failed.size(), configuration.invalid.size()};
}

/// Gives every number its own random draws, which are the same in every run.
std::uint64_t seed_of(const std::string& what, const record::Metric& metric) {
  return fnv1a64(fmt::format("{} {}", what, metric.name));
}

/// Compares one metric in each configuration and in all of them together, and decides the verdicts.
void compare_metric(Comparison& comparison, const std::vector<Matched>& matched, const record::Metric& metric) {
  std::vector<Measured> values;
  std::vector<Change*> family;
  for (std::size_t i = 0; i < matched.size(); ++i) {
    auto& configuration = comparison.configurations[i];
    values.push_back(measured(matched[i], metric, comparison.paired));
    configuration.changes.push_back(
        measure_change(metric, values.back().samples, seed_of(configuration.trial.configuration_id(), metric)));
  }
  for (auto& configuration : comparison.configurations) family.push_back(&configuration.changes.back());
  auto& all = comparison.together.emplace_back();
  if (const auto samples = together(values, comparison.paired)) {
    all = measure_change(metric, *samples, seed_of("together", metric));
    all->base_median.reset();  // medians of these multiples mean nothing to a reader
    all->new_median.reset();
  }
  decide(family, all ? &*all : nullptr);
}

void apply_rules(Comparison& comparison) {
  for (std::size_t i = 0; i < comparison.request.rules.size(); ++i) {
    const auto& rule = comparison.request.rules[i];
    for (auto& configuration : comparison.configurations) {
      configuration.outcomes.push_back(apply(rule, comparison.change_of(configuration, i)));
    }
    const auto& all = comparison.together_of(i);
    comparison.together_outcomes.push_back(all ? std::optional(apply(rule, *all)) : std::nullopt);
  }
}

std::size_t place_of(const record::Metric& metric, const Request& request) {
  const auto& metrics = request.metrics;
  return static_cast<std::size_t>(std::find(metrics.begin(), metrics.end(), &metric) - metrics.begin());
}

/// One item per setting in which two trials differ: "batch (1 and 8)".
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
  return found + static_cast<std::size_t>(std::count(together_outcomes.begin(), together_outcomes.end(), outcome));
}

const Change& Comparison::change_of(const ConfigurationChange& configuration, std::size_t rule) const {
  return configuration.changes[place_of(*request.rules[rule].metric, request)];
}

const std::optional<Change>& Comparison::together_of(std::size_t rule) const {
  return together[place_of(*request.rules[rule].metric, request)];
}

bool Comparison::regression() const {
  if (count(Outcome::broken) > 0) return true;
  return request.strict && (count(Outcome::undecided) > 0 || !only_base.empty());
}

Comparison compare(const Side& base, const Side& now, Request request) {
  const auto bases = configurations_of(base);
  const auto news = configurations_of(now);
  std::unordered_map<std::string, const stats::Configuration*> unmatched;
  for (const auto& configuration : news) unmatched.emplace(configuration.trial.configuration_id(), &configuration);

  Comparison comparison;
  comparison.request = std::move(request);
  comparison.base_name = base.name;
  comparison.new_name = now.name;
  comparison.base_machines = machines_of(base);
  comparison.new_machines = machines_of(now);
  std::vector<Matched> matched;
  for (const auto& configuration : bases) {
    const auto found = unmatched.extract(configuration.trial.configuration_id());
    if (found.empty()) {
      comparison.only_base.push_back(configuration.trial);
      continue;
    }
    matched.push_back({base, now, configuration, *found.mapped()});
    comparison.configurations.push_back(
        {configuration.trial, repetitions_of(configuration), repetitions_of(*found.mapped()), {}, {}});
  }
  if (comparison.configurations.empty()) refuse_strangers(base, now, bases, news);
  for (const auto& configuration : news) {
    if (unmatched.contains(configuration.trial.configuration_id())) comparison.only_new.push_back(configuration.trial);
  }
  comparison.paired = any_pair(matched);
  for (const auto* metric : comparison.request.metrics) compare_metric(comparison, matched, *metric);
  apply_rules(comparison);
  return comparison;
}

}  // namespace paretopipe::compare
