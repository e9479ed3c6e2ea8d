#pragma once
#include <paretopipe/config/network_profile.hpp>

#include <cstdint>
#include <random>

namespace paretopipe::shaping {

/// The deviations of delays from their mean, in units of the jitter, as in tc-netem(8): the kernel's uniform
/// distribution (-1 … 1, standard deviation 0.577), or iproute2's tables (normal.dist, pareto.dist, paretonormal.dist),
/// which end at ±4. Because of that end, netem's Pareto tables do not quite have mean 0 and standard deviation 1:
/// pareto -0.033 and 0.82, paretonormal -0.025 and 0.83. The same holds here, so that emulated and netem agree.
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
