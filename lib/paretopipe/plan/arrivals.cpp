#include <paretopipe/core/hash.hpp>
#include <paretopipe/plan/arrivals.hpp>

#include <cmath>
#include <random>

#include <fmt/format.h>

namespace paretopipe::plan {

std::vector<std::int64_t> poisson_arrivals(double rate_per_s, int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> arrivals;
  arrivals.reserve(static_cast<std::size_t>(count));
  double mean_gaps = 0;  // since the beginning
  while (static_cast<int>(arrivals.size()) < count) {
    const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;  // [0, 1), with all bits of a double
    mean_gaps -= std::log1p(-uniform);
    arrivals.push_back(std::llround(mean_gaps * 1e9 / rate_per_s));
  }
  return arrivals;
}

std::uint64_t arrivals_seed(const Trial& trial) {
  return fnv1a64(fmt::format("{}/{}/arrivals", trial.seed, trial.repetition));
}

}  // namespace paretopipe::plan
