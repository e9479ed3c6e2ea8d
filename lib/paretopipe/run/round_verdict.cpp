#include <paretopipe/run/round_verdict.hpp>
#include <paretopipe/stats/bootstrap.hpp>
#include <paretopipe/stats/quantile.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace paretopipe::run {
namespace {

/// A split's repetitions, and what resampling makes of their medians.
struct Split {
  std::vector<double> latency_ns;
  std::vector<double> throughput;
  std::vector<double> resampled_latency_ns;
  std::vector<double> resampled_throughput;

  std::size_t repetitions() const { return latency_ns.size(); }
};

using Splits = std::map<config::SplitPoints, Split>;

Splits splits_of(std::span<const record::TrialRecord> group) {
  Splits splits;
  for (const auto& record : group) {
    if (record.status != record::Status::ok) continue;
    auto& split = splits[record.trial.split_points];
    split.latency_ns.push_back(record.summary->latency.p50_ns);
    split.throughput.push_back(record.summary->throughput_image_per_s);
  }
  return splits;
}

void resample(Splits& splits, std::uint64_t seed) {
  for (auto& [points, split] : splits) {
    const std::array metrics{split.latency_ns, split.throughput};
    auto medians = stats::resampled_medians(metrics, seed++);
    split.resampled_latency_ns = std::move(medians[0]);
    split.resampled_throughput = std::move(medians[1]);
  }
}

bool narrow(const std::vector<double>& values, const std::vector<double>& resampled, double precision) {
  const auto interval = stats::percentile_interval(resampled);
  return (interval.high - interval.low) / 2 <= precision * *stats::median(values);
}

/// A baseline that is no split is measured until it is known, and beats none.
bool is_split(const config::SplitPoints& points) {
  return !points.empty();
}

/// Whether, in resample `b`, nothing beats the split once it is better by `bonus`.
bool could_be_on_frontier(const Splits& splits, const Split& own, std::size_t b, double bonus) {
  const double latency = own.resampled_latency_ns[b] / bonus;
  const double throughput = own.resampled_throughput[b] * bonus;
  return std::none_of(splits.begin(), splits.end(), [&](const auto& entry) {
    const auto& other = entry.second;
    return &other != &own && is_split(entry.first) && other.repetitions() >= kLeastToDrop &&
           other.resampled_latency_ns[b] <= latency && other.resampled_throughput[b] >= throughput;
  });
}

bool dominated(const Splits& splits, const Split& split, double precision) {
  for (std::size_t b = 0; b < split.resampled_latency_ns.size(); ++b) {
    if (could_be_on_frontier(splits, split, b, 1 + precision)) return false;
  }
  return true;
}

}  // namespace

Verdicts judge_round(std::span<const record::TrialRecord> group, double precision, std::uint64_t seed) {
  auto splits = splits_of(group);
  resample(splits, seed);
  Verdicts verdicts;
  for (const auto& [points, split] : splits) {
    auto& verdict = verdicts[points] = Verdict::open;
    if (is_split(points) && split.repetitions() >= kLeastToDrop && dominated(splits, split, precision)) {
      verdict = Verdict::dominated;
    } else if (split.repetitions() >= kLeastToSettle &&
               narrow(split.latency_ns, split.resampled_latency_ns, precision) &&
               narrow(split.throughput, split.resampled_throughput, precision)) {
      verdict = Verdict::settled;
    }
  }
  return verdicts;
}

}  // namespace paretopipe::run
