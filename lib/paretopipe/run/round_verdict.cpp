#include <paretopipe/record/metric.hpp>
#include <paretopipe/run/round_verdict.hpp>
#include <paretopipe/stats/bootstrap.hpp>
#include <paretopipe/stats/quantile.hpp>

#include <algorithm>
#include <array>

namespace paretopipe::run {
namespace {

/// The objectives that splits are judged by: a frontier's defaults.
using Objectives = std::array<const record::Metric*, 2>;

/// A split's repetitions, with one number per objective, and the resampled medians.
struct Split {
  std::array<std::vector<double>, 2> values;
  std::vector<std::vector<double>> resampled;  ///< [objective][resample]

  std::size_t repetitions() const { return values.front().size(); }
};

using Splits = std::map<config::SplitPoints, Split>;

Splits splits_of(std::span<const record::TrialRecord> group, const Objectives& objectives) {
  Splits splits;
  for (const auto& record : group) {
    if (record.status != record::Status::ok) continue;
    auto& split = splits[record.trial.split_points];
    for (std::size_t i = 0; i < objectives.size(); ++i) {
      split.values[i].push_back(objectives[i]->value(record).value());
    }
  }
  return splits;
}

void resample(Splits& splits, std::uint64_t seed) {
  for (auto& [points, split] : splits) split.resampled = stats::resampled_medians(split.values, seed++);
}

bool narrow(const Split& split, std::size_t objective, double precision) {
  const auto interval = stats::percentile_interval(split.resampled[objective]);
  return (interval.high - interval.low) / 2 <= precision * *stats::median(split.values[objective]);
}

/// A baseline that is no split is measured until it is settled, and beats nothing.
bool is_split(const config::SplitPoints& points) {
  return !points.empty();
}

/// Whether, in resample `b`, the other split is at least as good as `own` after improving `own` by `precision` in
/// measured objectives. Known values, such as the payload, are not improved.
bool beats(const Split& other, const Split& own, const Objectives& objectives, std::size_t b, double precision) {
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    const double bonus = objectives[i]->measured_in == record::MeasuredIn::any_phase ? 1 : 1 + precision;
    const double theirs = other.resampled[i][b], ours = own.resampled[i][b];
    const bool better =
        objectives[i]->better == record::Direction::min ? theirs <= ours / bonus : theirs >= ours * bonus;
    if (!better) return false;
  }
  return true;
}

/// Whether, in resample `b`, nothing beats the split.
bool could_be_on_frontier(const Splits& splits, const Split& own, const Objectives& objectives, std::size_t b,
                          double precision) {
  return std::none_of(splits.begin(), splits.end(), [&](const auto& entry) {
    const auto& other = entry.second;
    return &other != &own && is_split(entry.first) && other.repetitions() >= kLeastToDrop &&
           beats(other, own, objectives, b, precision);
  });
}

bool dominated(const Splits& splits, const Split& split, const Objectives& objectives, double precision) {
  for (std::size_t b = 0; b < split.resampled.front().size(); ++b) {
    if (could_be_on_frontier(splits, split, objectives, b, precision)) return false;
  }
  return true;
}

}  // namespace

Verdicts judge_round(std::span<const record::TrialRecord> group, double precision, std::uint64_t seed) {
  if (group.empty()) return {};
  const auto objectives = record::usual_objectives(group.front().trial.phases);
  auto splits = splits_of(group, objectives);
  resample(splits, seed);
  Verdicts verdicts;
  for (const auto& [points, split] : splits) {
    auto& verdict = verdicts[points] = Verdict::open;
    if (is_split(points) && split.repetitions() >= kLeastToDrop && dominated(splits, split, objectives, precision)) {
      verdict = Verdict::dominated;
    } else if (split.repetitions() >= kLeastToSettle && narrow(split, 0, precision) && narrow(split, 1, precision)) {
      verdict = Verdict::settled;
    }
  }
  return verdicts;
}

}  // namespace paretopipe::run
