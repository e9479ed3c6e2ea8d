#include <paretopipe/analysis/predict/queueing.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <support/catch.hpp>

using namespace paretopipe;

namespace {

/// The waits of a queue with Poisson arrivals whose service always takes 1, by Lindley's recursion.
std::vector<double> simulated_waits(double load) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> gap(load);
  std::vector<double> waits;
  double wait = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    wait = std::max(0.0, wait + 1 - gap(random));
    waits.push_back(wait);
  }
  return waits;
}

}  // namespace

TEST_CASE("waiting is that of a simulated queue, in the mean and in the 99th percentile") {
  for (const double load : {0.1, 0.3, 0.6, 0.9}) {
    CAPTURE(load);
    const auto waits = simulated_waits(load);
    const auto predicted = predict::waiting(1e9, load).value();
    const auto mean = std::accumulate(waits.begin(), waits.end(), 0.0) / static_cast<double>(waits.size());
    CHECK(predicted.mean_ns * 1e-9 == Approx(mean).epsilon(0.05));
    CHECK(predicted.p99_ns * 1e-9 == Approx(stats::quantile(waits, 0.99).value()).epsilon(0.05).margin(0.05));
  }
}

TEST_CASE("hardly anybody waits where few arrive, and what does not keep up has no wait") {
  const auto few = predict::waiting(1e6, 0.001).value();
  CHECK(few.mean_ns < 1);
  CHECK(few.p99_ns == 0);
  CHECK_FALSE(predict::waiting(1e6, 1000).has_value());
  CHECK_FALSE(predict::waiting(1e6, 5000).has_value());
}
