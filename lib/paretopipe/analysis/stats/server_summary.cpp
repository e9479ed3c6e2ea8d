#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/analysis/stats/server_summary.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <functional>
#include <span>

#include <fmt/format.h>

namespace paretopipe::stats {

namespace {

using Moments = std::vector<std::int64_t>;

bool never_before(const Moments& later, const Moments& earlier) {
  return std::equal(later.begin(), later.end(), earlier.begin(), std::greater_equal<>());
}

void check(const ServerTimeline& moments, int warmup) {
  const auto batches = moments.scheduled.size();
  if (moments.handed_over.size() != batches || moments.completed.size() != batches) {
    throw UsageError("the samples of a Server phase are damaged: its series have different lengths");
  }
  if (warmup < 0 || batches < static_cast<std::size_t>(warmup) + 2) {
    throw UsageError(fmt::format(
        "a Server phase needs two queries after its warm-up: {} were run, {} of them to warm up", batches, warmup));
  }
  const bool ordered = std::is_sorted(moments.scheduled.begin(), moments.scheduled.end()) &&
                       std::is_sorted(moments.completed.begin(), moments.completed.end()) &&
                       never_before(moments.handed_over, moments.scheduled) &&
                       never_before(moments.completed, moments.handed_over);
  if (!ordered) throw UsageError("the samples of a Server phase are damaged: its moments go back in time");
}

/// For the batches after warm-up.
Moments differences(const Moments& end, const Moments& begin, int warmup) {
  Moments result(end.size() - static_cast<std::size_t>(warmup));
  std::transform(end.begin() + warmup, end.end(), begin.begin() + warmup, result.begin(), std::minus<>());
  return result;
}

/// Images per second between the first moment after warm-up and the last.
double rate_of(const Moments& moments, int warmup, int batch) {
  const auto first = moments[static_cast<std::size_t>(warmup)];
  const auto gaps = static_cast<double>(moments.size() - static_cast<std::size_t>(warmup) - 1);
  return gaps * batch * 1e9 / static_cast<double>(std::max<std::int64_t>(1, moments.back() - first));
}

double value_of(const record::Distribution& latency, experiment::LatencyStatistic statistic) {
  switch (statistic) {
    case experiment::LatencyStatistic::mean:
      return latency.mean_ns;
    case experiment::LatencyStatistic::p50:
      return latency.p50_ns;
    case experiment::LatencyStatistic::p90:
      return latency.p90_ns;
    case experiment::LatencyStatistic::p95:
      return latency.p95_ns;
    case experiment::LatencyStatistic::p99:
      return latency.p99_ns;
    case experiment::LatencyStatistic::max:
      break;
  }
  return latency.max_ns;
}

}  // namespace

record::ServerSummary summarise_server(const ServerTimeline& moments, int warmup, int batch) {
  check(moments, warmup);
  record::ServerSummary summary;
  summary.latency = *distribution(differences(moments.completed, moments.scheduled, warmup));
  summary.offered_image_per_s = rate_of(moments.scheduled, warmup, batch);
  summary.achieved_image_per_s = rate_of(moments.completed, warmup, batch);
  summary.saturated = summary.achieved_image_per_s < kKeptUp * summary.offered_image_per_s;
  summary.source_wait_mean_ns = *mean(differences(moments.handed_over, moments.scheduled, warmup));
  return summary;
}

bool keeps(const record::ServerSummary& summary, const experiment::LatencyBound& bound) {
  return !summary.saturated && value_of(summary.latency, bound.statistic) < static_cast<double>(bound.limit_ns);
}

record::MaxRate max_rate_of(const std::vector<record::ServerRun>& runs, const experiment::LatencyBound& bound) {
  record::MaxRate result;
  for (const auto& run : runs) {
    const double rate = run.rate_image_per_s;
    if (keeps(run.summary, bound)) {
      result.kept_image_per_s = std::max(result.kept_image_per_s.value_or(rate), rate);
    } else {
      result.missed_image_per_s = std::min(result.missed_image_per_s.value_or(rate), rate);
    }
  }
  return result;
}

}  // namespace paretopipe::stats
