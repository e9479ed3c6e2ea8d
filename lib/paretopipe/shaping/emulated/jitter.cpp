#include <paretopipe/shaping/emulated/jitter.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace paretopipe::shaping {
namespace {

using config::DelayDistribution;

/// The end of the tables: the largest 16-bit number, in units of NETEM_DIST_SCALE.
constexpr double kEndOfTable = 32767.0 / 8192.0;

/// The Pareto value that a share `above` of all values exceeds, as scaled in iproute2's netem/pareto.c: shape 3,
/// shifted by its mean of 1.5.
double pareto(double above) {
  return std::min(kEndOfTable, (std::pow(above, -1.0 / 3.0) - 1.5) * 4.0 / 3.0);
}

/// The share of all normally distributed values that exceed `value`.
double above(double value) {
  return 0.5 * std::erfc(value / std::numbers::sqrt2);
}

}  // namespace

EmulatedJitter::EmulatedJitter(DelayDistribution distribution, std::uint64_t seed)
    : distribution_(distribution), random_(seed) {}

double EmulatedJitter::next() {
  switch (distribution_) {
    case DelayDistribution::uniform:
      return 2.0 * uniform() - 1.0;
    case DelayDistribution::normal:
      return normal();
    case DelayDistribution::pareto:
      return pareto(uniform());
    case DelayDistribution::paretonormal: {
      // Both at the same quantile, as netem/paretonormal.c mixes them.
      const double value = normal();
      return 0.25 * value + 0.75 * pareto(above(value));
    }
  }
  return 0;
}

/// In (0, 1]. Not std::uniform_real_distribution, which differs between standard libraries.
double EmulatedJitter::uniform() {
  return static_cast<double>((random_() >> 11U) + 1) * 0x1p-53;
}

/// Box and Muller's transform. Its second value is discarded, so the seed is the only state.
double EmulatedJitter::normal() {
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  return std::clamp(radius * std::cos(2.0 * std::numbers::pi * uniform()), -kEndOfTable, kEndOfTable);
}

}  // namespace paretopipe::shaping
