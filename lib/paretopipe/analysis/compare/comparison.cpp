#include <paretopipe/analysis/compare/comparison.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/record/record.hpp>

#include <algorithm>
#include <cmath>
#include <map>
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
    for (auto& machine : record::machines_of(record)) add_once(machines, std::move(machine));
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

/// A configuration as both sides have it.
struct Matched {
  const Side& base_side;
  const Side& new_side;
  const stats::Configuration& base;
  const stats::Configuration& now;
};

/// The index of the new record that was measured side by side with `record`, which is one of the base's.
std::optional<std::size_t> partner_of(const record::TrialRecord& record, const Matched& configuration) {
  for (const auto index : configuration.now.ok) {
    if (record::side_by_side(record, configuration.new_side.records[index])) return index;
  }
  return std::nullopt;
}

void append(std::vector<double>& values, std::vector<int>& repetitions, const record::TrialRecord& record,
            const record::Metric& metric) {
  const auto value = metric.value(record);
  if (!value) return;
  values.push_back(*value);
  repetitions.push_back(record.trial.repetition);
}

/// The values of one metric in one configuration, each with its repetition.
struct Measured {
  Samples samples;
  std::vector<int> base_repetitions;
  std::vector<int> new_repetitions;
};

Measured measured_pairs(const Matched& configuration, const record::Metric& metric) {
  Measured result;
  result.samples.paired = true;
  for (const auto index : configuration.base.ok) {
    const auto& base = configuration.base_side.records[index];
    const auto partner = partner_of(base, configuration);
    if (!partner) continue;
    const auto& now = configuration.new_side.records[*partner];
    if (!metric.value(base) || !metric.value(now)) continue;
    append(result.samples.base, result.base_repetitions, base, metric);
    append(result.samples.now, result.new_repetitions, now, metric);
  }
  return result;
}

/// Accumulates the logarithm of a geometric mean.
struct LogMean {
  double sum = 0;
  int count = 0;
};
using LogMeans = std::map<int, LogMean>;  // by repetition

void add(LogMeans& means, const std::vector<double>& values, const std::vector<int>& repetitions, double unit) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto& mean = means[repetitions[i]];
    mean.sum += std::log(values[i] / unit);
    ++mean.count;
  }
}

/// One geometric mean for each repetition that has a value in every configuration.
std::vector<double> geometric_means(const LogMeans& means, int configurations) {
  std::vector<double> values;
  for (const auto& [repetition, mean] : means) {
    if (mean.count == configurations) values.push_back(std::exp(mean.sum / mean.count));
  }
  return values;
}

bool has_only_positive(const std::vector<double>& values) {
  return !values.empty() && std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

/// True if any repetition has a partner, that is, if the two sides were measured side by side.
bool any_pair(const std::vector<Matched>& configurations) {
  return std::any_of(configurations.begin(), configurations.end(), [](const Matched& configuration) {
    const auto& ok = configuration.base.ok;
    return std::any_of(ok.begin(), ok.end(), [&](std::size_t index) {
      return partner_of(configuration.base_side.records[index], configuration).has_value();
    });
  });
}

/// With `paired`, only repetitions that were measured side by side count, unless no two of them were.
Measured measured(const Matched& configuration, const record::Metric& metric, bool paired) {
  if (paired) {
    if (auto pairs = measured_pairs(configuration, metric); !pairs.samples.base.empty()) return pairs;
  }
  Measured result;
  result.samples.all_failed = configuration.now.ok.empty();
  for (const auto index : configuration.base.ok) {
    append(result.samples.base, result.base_repetitions, configuration.base_side.records[index], metric);
  }
  for (const auto index : configuration.now.ok) {
    append(result.samples.now, result.new_repetitions, configuration.new_side.records[index], metric);
  }
  return result;
}

/// All configurations together: one geometric mean for each repetition that has a value in all of them. Each value
/// enters as a multiple of the base's median in its configuration, so that all configurations weigh the same.
/// Configurations with a value that is not above 0, or with a side without values, are left out. None if fewer than two
/// configurations remain, or if no repetition has all of them.
std::optional<Samples> together(const std::vector<Measured>& configurations, bool paired) {
  LogMeans base, now;
  int included = 0;
  for (const auto& [samples, base_repetitions, new_repetitions] : configurations) {
    if (!has_only_positive(samples.base) || !has_only_positive(samples.now) || samples.paired != paired) continue;
    const double unit = *stats::median(samples.base);
    add(base, samples.base, base_repetitions, unit);
    add(now, samples.now, new_repetitions, unit);
    ++included;
  }
  Samples samples{geometric_means(base, included), geometric_means(now, included), paired, false};
  if (included < 2 || samples.base.empty() || samples.now.empty()) return std::nullopt;
  return samples;
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
std::vector<std::string> differing_settings(const experiment::Trial& base, const experiment::Trial& now) {
  auto left = record::settings_of(base);
  auto right = record::settings_of(now);
  left.push_back({"model", base.model});
  right.push_back({"model", now.model});
  left.push_back({"split", record::split_number(base)});
  right.push_back({"split", record::split_number(now)});
  std::vector<std::string> differing;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i].value == right[i].value) continue;
    differing.push_back(record::printable(fmt::format("{} ({} and {})", left[i].name, left[i].value, right[i].value)));
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
