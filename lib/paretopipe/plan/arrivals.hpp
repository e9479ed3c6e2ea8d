#pragma once
#include <paretopipe/plan/trial.hpp>

#include <cstdint>
#include <vector>

namespace paretopipe::plan {

/// When the queries of a Server phase arrive: `count` moments of a Poisson process with `rate_per_s` arrivals per
/// second (more than 0), ascending, in nanoseconds since its beginning. Gaps are exponential, by inversion of the
/// distribution function (Devroye, Non-Uniform Random Variate Generation, 1986, II.2). The same seed draws the same
/// gaps at every rate, in proportion to 1 / rate: in a queue whose service does not depend on the rate, no query waits
/// longer at a lower one (common random numbers).
std::vector<std::int64_t> poisson_arrivals(double rate_per_s, int count, std::uint64_t seed);

/// The seed of a trial's schedule: of its own seed and its repetition, so that an interval over the repetitions
/// contains the chance of arrivals, and splits that are compared meet the same arrivals in the same repetition.
std::uint64_t arrivals_seed(const Trial& trial);

}  // namespace paretopipe::plan
