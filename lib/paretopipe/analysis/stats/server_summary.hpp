#pragma once
#include <paretopipe/experiment/server_load.hpp>
#include <paretopipe/record/summary.hpp>

#include <vector>

namespace paretopipe::stats {

/// The share of the arrival rate that the completion rate must reach for a pipeline to have kept up.
inline constexpr double kKeptUp = 0.95;

/// Summarises a Server phase with `batch` images per query. The first `warmup` queries enter no statistic. The n others
/// arrived at (n - 1) batch / (last arrival - first arrival) images per second and were completed at (n - 1) batch /
/// (last completion - first completion). The phase is saturated if the latter is less than kKeptUp of the former. Only
/// many queries show how near to its capacity a pipeline is: a queue that is long by chance looks like one that grows.
///
/// Throws UsageError for damaged moments: unequal lengths, moments of a batch that decrease, batches that arrive or are
/// completed out of order, or fewer than two batches after warm-up.
record::ServerSummary summarise_server(const ServerTimeline& moments, int warmup, int batch);

/// True if the pipeline kept up and the statistic is below the limit.
bool keeps(const record::ServerSummary& summary, const experiment::LatencyBound& bound);

/// The result of the search that tried these rates.
record::MaxRate max_rate_of(const std::vector<record::ServerRun>& runs, const experiment::LatencyBound& bound);

}  // namespace paretopipe::stats
