#include "confidence.hpp"

#include <paretopipe/analysis/frontier/frontier.hpp>
#include <paretopipe/analysis/frontier/objective.hpp>
#include <paretopipe/core/hash.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::frontier {

namespace {

using Columns = std::vector<std::vector<double>>;

/// A compared row's medians, resample by resample.
struct Resampled {
  std::size_t repetitions = 0;  ///< that have every objective; 0 if the row takes no part
  Columns medians;              ///< [objective][resample]
};

/// Depends only on the configuration, so that more splits do not change its interval.
std::uint64_t seed_of(const stats::Configuration& configuration, std::uint64_t seed) {
  auto trial = configuration.trial;
  trial.repetition = 0;
  return fnv1a64(fmt::format("{}/{}", seed, trial.id()));
}

void add_intervals(FrontierRow& row, std::span<const record::TrialRecord> records,
                   const std::vector<Objective>& objectives, std::uint64_t seed) {
  for (const auto& objective : objectives) {
    std::vector<double> values;
    for (const auto index : row.configuration.ok) {
      if (const auto value = objective.metric->value(records[index])) values.push_back(*value);
    }
    row.intervals.push_back(stats::median_interval(values, seed));
  }
}

/// Resamples the repetitions that have every objective.
Resampled resample(const FrontierRow& row, std::span<const record::TrialRecord> records,
                   const std::vector<Objective>& objectives, std::uint64_t seed) {
  if (!row.compared()) return {};
  Columns values(objectives.size());
  for (const auto index : row.configuration.ok) {
    std::vector<double> repetition;
    for (const auto& objective : objectives) {
      if (const auto value = objective.metric->value(records[index])) repetition.push_back(*value);
    }
    if (repetition.size() < objectives.size()) continue;
    for (std::size_t i = 0; i < repetition.size(); ++i) values[i].push_back(repetition[i]);
  }
  if (values.front().empty()) return {};
  return {values.front().size(), stats::resampled_medians(values, seed)};
}

/// One joint resample of the participating rows: [objective][position among them].
Columns columns_of(const std::vector<Resampled>& resampled, const std::vector<std::size_t>& rows,
                   std::size_t objectives, std::size_t resample) {
  Columns columns(objectives);
  for (std::size_t i = 0; i < objectives; ++i) {
    for (const auto row : rows) columns[i].push_back(resampled[row].medians[i][resample]);
  }
  return columns;
}

std::vector<std::size_t> frontier_of(const Columns& columns, const std::vector<Sense>& senses) {
  Points points(senses);
  points.reserve(columns.front().size());
  std::vector<std::optional<double>> values(columns.size());
  for (std::size_t point = 0; point < columns.front().size(); ++point) {
    for (std::size_t i = 0; i < columns.size(); ++i) values[i] = columns[i][point];
    points.add(values);
  }
  return find_frontier(points).members;
}

std::size_t balanced_of(const Columns& columns, const std::vector<Sense>& senses) {
  Columns regrets;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    regrets.push_back(relative_regret(senses[i], columns[i]));
  }
  return least_worst(regrets)->option;
}

void add_probabilities(FrontierGroup& group, const std::vector<Resampled>& resampled,
                       const std::vector<Sense>& senses) {
  std::vector<std::size_t> rows;  // the participating ones
  for (std::size_t row = 0; row < resampled.size(); ++row) {
    if (resampled[row].repetitions > 0) rows.push_back(row);
  }
  if (rows.empty()) return;
  std::vector<int> on_frontier(rows.size()), balanced(rows.size());
  for (std::size_t resample = 0; resample < stats::kResamples; ++resample) {
    const auto columns = columns_of(resampled, rows, senses.size(), resample);
    for (const auto member : frontier_of(columns, senses)) ++on_frontier[member];
    ++balanced[balanced_of(columns, senses)];
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (resampled[rows[i]].repetitions < 2) continue;
    group.rows[rows[i]].frontier_probability = static_cast<double>(on_frontier[i]) / stats::kResamples;
    group.rows[rows[i]].balanced_probability = static_cast<double>(balanced[i]) / stats::kResamples;
  }
}

/// The 95 % interval of the difference excludes zero: less than 2.5 % of the differences lie at or beyond it.
bool differ(const std::vector<double>& left, const std::vector<double>& right) {
  int not_below = 0, not_above = 0;
  for (std::size_t resample = 0; resample < left.size(); ++resample) {
    not_below += left[resample] >= right[resample];
    not_above += left[resample] <= right[resample];
  }
  return std::min(not_below, not_above) < 0.025 * static_cast<double>(left.size());
}

bool differ_in_one(const Resampled& left, const Resampled& right) {
  for (std::size_t i = 0; i < left.medians.size(); ++i) {
    if (differ(left.medians[i], right.medians[i])) return true;
  }
  return false;
}

void add_alike(FrontierGroup& group, const std::vector<Resampled>& resampled) {
  for (std::size_t right = 0; right < resampled.size(); ++right) {
    for (std::size_t left = 0; left < right; ++left) {
      if (std::min(resampled[left].repetitions, resampled[right].repetitions) < 2) continue;
      if (differ_in_one(resampled[left], resampled[right])) continue;
      group.rows[left].alike.push_back(right);
      group.rows[right].alike.push_back(left);
    }
  }
  for (auto& row : group.rows) std::sort(row.alike.begin(), row.alike.end());
}

}  // namespace

void add_confidence(FrontierGroup& group, std::span<const record::TrialRecord> records,
                    const std::vector<Objective>& objectives, std::uint64_t seed) {
  std::vector<Resampled> resampled;
  for (auto& row : group.rows) {
    const auto own_seed = seed_of(row.configuration, seed);
    add_intervals(row, records, objectives, own_seed);
    resampled.push_back(resample(row, records, objectives, own_seed));
  }
  add_probabilities(group, resampled, senses_of(objectives));
  add_alike(group, resampled);
}

}  // namespace paretopipe::frontier
