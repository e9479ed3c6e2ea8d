#include "samples.hpp"

#include <paretopipe/stats/quantile.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace paretopipe::compare {
namespace {

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

}  // namespace

bool any_pair(const std::vector<Matched>& configurations) {
  return std::any_of(configurations.begin(), configurations.end(), [](const Matched& configuration) {
    const auto& ok = configuration.base.ok;
    return std::any_of(ok.begin(), ok.end(), [&](std::size_t index) {
      return partner_of(configuration.base_side.records[index], configuration).has_value();
    });
  });
}

Measured measured(const Matched& configuration, const record::Metric& metric, bool paired) {
  if (paired && !configuration.now.ok.empty()) return measured_pairs(configuration, metric);
  Measured result;
  result.samples.paired = paired;
  result.samples.all_failed = configuration.now.ok.empty();
  for (const auto index : configuration.base.ok) {
    append(result.samples.base, result.base_repetitions, configuration.base_side.records[index], metric);
  }
  for (const auto index : configuration.now.ok) {
    append(result.samples.now, result.new_repetitions, configuration.new_side.records[index], metric);
  }
  return result;
}

std::optional<Samples> together(const std::vector<Measured>& configurations, bool paired) {
  LogMeans base, now;
  int included = 0;
  for (const auto& [samples, base_repetitions, new_repetitions] : configurations) {
    if (!has_only_positive(samples.base) || !has_only_positive(samples.now)) continue;
    const double unit = *stats::median(samples.base);
    add(base, samples.base, base_repetitions, unit);
    add(now, samples.now, new_repetitions, unit);
    ++included;
  }
  Samples samples{geometric_means(base, included), geometric_means(now, included), paired, false};
  if (included < 2 || samples.base.empty() || samples.now.empty()) return std::nullopt;
  return samples;
}

}  // namespace paretopipe::compare
