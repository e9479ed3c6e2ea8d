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

std::map<int, Split> splits_of(std::span<const record::TrialRecord> group) {
  std::map<int, Split> splits;
  for (const auto& record : group) {
    if (record.status != record::Status::ok) continue;
    auto& split = splits[record.trial.split_points.front()];
    split.latency_ns.push_back(record.summary->latency.p50_ns);
    split.throughput.push_back(record.summary->throughput_image_per_s);
  }
  return splits;
}

void resample(std::map<int, Split>& splits, std::uint64_t seed) {
  for (auto& [point, split] : splits) {
    const std::array metrics{split.latency_ns, split.throughput};
    auto medians = stats::resampled_medians(metrics, seed + static_cast<std::uint64_t>(point));
    split.resampled_latency_ns = std::move(medians[0]);
    split.resampled_throughput = std::move(medians[1]);
  }
}

bool narrow(const std::vector<double>& values, const std::vector<double>& resampled, double precision) {
  const auto interval = stats::percentile_interval(resampled);
  return (interval.high - interval.low) / 2 <= precision * *stats::median(values);
}

/// Whether, in resample `b`, nothing beats the split once it is better by `bonus`.
bool could_be_on_frontier(const std::map<int, Split>& splits, int point, std::size_t b, double bonus) {
  const auto& own = splits.at(point);
  const double latency = own.resampled_latency_ns[b] / bonus;
  const double throughput = own.resampled_throughput[b] * bonus;
  return std::none_of(splits.begin(), splits.end(), [&](const auto& entry) {
    const auto& other = entry.second;
    return entry.first != point && other.repetitions() >= kLeastToDrop && other.resampled_latency_ns[b] <= latency &&
           other.resampled_throughput[b] >= throughput;
  });
}

bool dominated(const std::map<int, Split>& splits, int point, double precision) {
  for (std::size_t b = 0; b < splits.at(point).resampled_latency_ns.size(); ++b) {
    if (could_be_on_frontier(splits, point, b, 1 + precision)) return false;
  }
  return true;
}

}  // namespace

std::map<int, Verdict> judge_round(std::span<const record::TrialRecord> group, double precision, std::uint64_t seed) {
  auto splits = splits_of(group);
  resample(splits, seed);
  std::map<int, Verdict> verdicts;
  for (const auto& [point, split] : splits) {
    auto& verdict = verdicts[point] = Verdict::open;
    if (split.repetitions() >= kLeastToDrop && dominated(splits, point, precision)) {
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
