#include <paretopipe/analysis/predict/queueing.hpp>

#include <algorithm>
#include <cmath>

namespace paretopipe::predict {

namespace {

/// The positive x with load (e^x - 1) = x, by bisection: P(wait > t) falls as exp(-x t / period).
double decay(double load) {
  double low = 0;
  double high = 1;
  while (load * std::expm1(high) < high) high *= 2;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (load * std::expm1(middle) < middle ? low : high) = middle;
  }
  return high;
}

}  // namespace

std::optional<Waiting> waiting(double period_ns, double batches_per_s) {
  const double load = period_ns * 1e-9 * batches_per_s;
  if (load >= 1) return std::nullopt;
  const double x = decay(load);
  // Cramer and Lundberg's constant.
  const double share = (1 - load) / (load * std::exp(x) - 1);
  constexpr double kOthers = 0.01;
  const bool few_wait = load <= kOthers;  // the share that waits at all is the load
  return Waiting{.mean_ns = period_ns * load / (2 * (1 - load)),
                 .p99_ns = few_wait ? 0 : std::max(0.0, period_ns * std::log(share / kOthers) / x)};
}

}  // namespace paretopipe::predict
