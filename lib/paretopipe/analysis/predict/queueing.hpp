#pragma once
#include <optional>

namespace paretopipe::predict {

/// How long batches wait that arrive as a Poisson process at a pipeline whose parts take the same time for every batch.
/// All waiting in such a pipeline adds up to that in a single M/D/1 queue with the slowest part's time (Friedman,
/// "Reduction methods for tandem queuing systems", 1965).
struct Waiting {
  double mean_ns = 0;
  double p99_ns = 0;
};

/// `period_ns`: of the slowest part. `batches_per_s`: the rate of arrivals. Both are more than 0. The mean is Pollaczek
/// and Khinchine's. The 99th percentile is that of the exponential to which the tail converges, a few hundredths of the
/// period off at most. None if batches arrive as fast as they leave, or faster: the wait then only says how long one
/// measured.
std::optional<Waiting> waiting(double period_ns, double batches_per_s);

}  // namespace paretopipe::predict
