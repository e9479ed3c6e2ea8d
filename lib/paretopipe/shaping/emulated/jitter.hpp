#pragma once
#include <paretopipe/config/network_profile.hpp>

#include <cstdint>
#include <random>

namespace paretopipe::shaping {

/// How far delays lie from their mean, in units of the jitter, as tc-netem(8) has them: the uniform distribution of the
/// kernel (-1 … 1, standard deviation 0.577), or the tables that iproute2 ships (normal.dist, pareto.dist,
/// paretonormal.dist), which end at ±4. netem's Pareto tables are not quite of mean 0 and standard deviation 1, because
/// of that end: pareto -0.033 and 0.82, paretonormal -0.025 and 0.83. The same here, so that emulated and netem agree.
///
/// The sequence is the same for the same seed, on every machine.
class EmulatedJitter {
 public:
  EmulatedJitter(config::DelayDistribution distribution, std::uint64_t seed);

  double next();

 private:
  double uniform();
  double normal();

  config::DelayDistribution distribution_;
  std::mt19937_64 random_;
};

}  // namespace paretopipe::shaping
