#pragma once
#include <paretopipe/config/server_load.hpp>
#include <paretopipe/record/server_record.hpp>

#include <vector>

namespace paretopipe::stats {

/// Of the arrivals, what must be completed in the same time for a pipeline to have kept up.
inline constexpr double kKeptUp = 0.95;

/// What a Server phase measured: `batch` images a query, the first `warmup` of which enter no statistic. The n others
/// arrived at (n - 1) batch / (last arrival - first arrival) images per second and were completed at
/// (n - 1) batch / (last completion - first completion); less than kKeptUp of the former is saturated. How near to its
/// capacity a pipeline is can only be told of many queries: a queue that is long by chance looks like one that grows.
///
/// Throws UsageError for damaged moments: unequal lengths, moments of a batch that decrease, batches that arrive or are
/// completed out of order, fewer than two after warm-up.
record::ServerSummary summarise_server(const ServerTimeline& moments, int warmup, int batch);

/// The pipeline kept up, and the statistic is below the limit.
bool keeps(const record::ServerSummary& summary, const config::LatencyBound& bound);

/// How the search ended that tried these rates.
record::MaxRate max_rate_of(const std::vector<record::ServerRun>& runs, const config::LatencyBound& bound);

}  // namespace paretopipe::stats
