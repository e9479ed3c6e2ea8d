#pragma once
#include <paretopipe/plan/trial.hpp>

#include <cstdint>
#include <vector>

namespace paretopipe::plan {

/// The arrival times of a Server phase's queries: `count` moments of a Poisson process with `rate_per_s` arrivals per
/// second (more than 0), ascending, in nanoseconds since its beginning. Gaps are exponential, by inversion of the
/// distribution function (Devroye, Non-Uniform Random Variate Generation, 1986, II.2). The same seed draws the same
/// gaps at every rate, in proportion to 1 / rate (common random numbers). So in a queue whose service does not depend
/// on the rate, no query waits longer at a lower rate.
std::vector<std::int64_t> poisson_arrivals(double rate_per_s, int count, std::uint64_t seed);

/// The seed of a trial's schedule, derived from its own seed and its repetition. So an interval over the repetitions
/// includes the chance of arrivals, and compared splits meet the same arrivals in the same repetition.
std::uint64_t arrivals_seed(const Trial& trial);

}  // namespace paretopipe::plan
