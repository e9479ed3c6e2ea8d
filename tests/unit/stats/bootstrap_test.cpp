#include <paretopipe/analysis/stats/bootstrap.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/hash.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

#include <support/catch.hpp>

namespace stats = paretopipe::stats;

namespace {

/// How often the median of n draws from n distinct values is at most the `rank`-th smallest (from 1), n odd: at least
/// (n + 1) / 2 of the draws are among the `rank` smallest (Efron 1979, equation 3.5).
double median_at_most(int n, int rank) {
  const double p = static_cast<double>(rank) / n;
  double sum = 0, ways = 1;
  for (int k = 0; k <= n; ++k) {
    if (k > n / 2) sum += ways * std::pow(p, k) * std::pow(1 - p, n - k);
    ways *= static_cast<double>(n - k) / (k + 1);
  }
  return sum;
}

}  // namespace

TEST_CASE("the medians of resamples are distributed as theory says") {
  for (const int n : {3, 5, 9}) {
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 1.0);
    const std::vector<std::vector<double>> metrics{values};
    const int resamples = 20'000;
    const auto medians = stats::resampled_medians(metrics, 3, resamples).front();
    REQUIRE(medians.size() == static_cast<std::size_t>(resamples));
    for (int rank = 1; rank <= n; ++rank) {
      const auto count = std::count_if(medians.begin(), medians.end(), [&](double median) { return median <= rank; });
      CHECK(static_cast<double>(count) / resamples == Approx(median_at_most(n, rank)).margin(0.015));
    }
  }
}

TEST_CASE("all metrics of a resample come from the same repetitions") {
  // The second metric is the first in reverse: only where the same repetitions were picked do the medians add up to 0.
  const std::vector<std::vector<double>> metrics{{1, 2, 4, 8, 16, 32}, {-1, -2, -4, -8, -16, -32}};
  const auto medians = stats::resampled_medians(metrics, 4, 500);
  for (std::size_t b = 0; b < 500; ++b) REQUIRE(medians[0][b] == -medians[1][b]);
  const std::vector<std::vector<double>> alone{metrics[1]};
  CHECK(stats::resampled_medians(alone, 4, 500).front() == medians[1]);
}

TEST_CASE("resampled medians are medians of what the resampler picks, for even and odd counts") {
  for (std::size_t n = 1; n <= 8; ++n) {
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(std::sqrt(static_cast<double>(i * 7 % 5 + i)));
    const std::vector<std::vector<double>> metrics{values};
    const auto medians = stats::resampled_medians(metrics, 5, 100).front();
    std::mt19937_64 random(5);
    for (const double median : medians) {
      std::vector<double> picked;
      while (picked.size() < n) picked.push_back(values.at(paretopipe::draw_below(random, n)));
      REQUIRE(median == stats::median(picked).value());
    }
  }
}

TEST_CASE("the same seed gives the same interval, on every standard library") {
  const std::vector<double> values{3, 1, 4, 1.5, 9, 2.6, 5.3, 5.8};
  const auto interval = stats::median_interval(values, 42).value();
  CHECK(interval == stats::median_interval(values, 42).value());
  CHECK(interval == stats::Interval{1.5, 5.8});
  std::mt19937_64 random(42);
  std::vector<std::uint64_t> picked(5);
  for (auto& pick : picked) pick = paretopipe::draw_below(random, picked.size());
  CHECK(picked == std::vector<std::uint64_t>{1, 4, 0, 2, 1});
}

TEST_CASE("up to five repetitions the interval spans them all") {
  const std::vector<double> values{50, 10, 40, 20, 30};
  for (std::size_t n = 2; n <= 5; ++n) {
    const auto some = std::span(values).first(n);
    const auto interval = stats::median_interval(some, 1).value();
    CHECK(interval.low == *std::min_element(some.begin(), some.end()));
    CHECK(interval.high == *std::max_element(some.begin(), some.end()));
  }
}

TEST_CASE("nothing can be said of fewer than two repetitions") {
  CHECK_FALSE(stats::median_interval({}, 1));
  CHECK_FALSE(stats::median_interval(std::vector<double>{7}, 1));
  CHECK(stats::median_interval(std::vector<double>{7, 7}, 1) == stats::Interval{7, 7});
}

TEST_CASE("intervals follow shifts and scales of their values, and lie within them around the median") {
  std::mt19937 random(6);
  for (int round = 0; round < 20; ++round) {
    std::vector<double> values, scaled;
    for (int i = 0; i < 2 + round; ++i) {
      values.push_back(static_cast<double>(random() % 1000));
      scaled.push_back(values.back() * 4 + 64);
    }
    const auto interval = stats::median_interval(values, 9).value();
    CHECK(stats::median_interval(scaled, 9) == stats::Interval{interval.low * 4 + 64, interval.high * 4 + 64});
    CHECK(interval.low >= *std::min_element(values.begin(), values.end()));
    CHECK(interval.high <= *std::max_element(values.begin(), values.end()));
    CHECK(interval.low <= stats::median(values).value());
    CHECK(interval.high >= stats::median(values).value());
    const auto narrower = stats::median_interval(values, 9, 0.5).value();
    CHECK(narrower.low >= interval.low);
    CHECK(narrower.high <= interval.high);
  }
}

TEST_CASE("intervals cover the true median about as often as they can, and no oftener than the bound") {
  for (const auto& [count, bound] : {std::pair{0U, 0.0}, {1, 0}, {2, 0.5}, {3, 0.75}, {5, 0.9375}, {5000, 1}}) {
    CHECK(stats::coverage_bound(count) == bound);
  }
  std::mt19937_64 random(7);
  for (const int n : {3, 5, 15}) {
    const int experiments = 250;
    int covered = 0;
    for (int experiment = 0; experiment < experiments; ++experiment) {
      std::vector<double> values;
      for (int i = 0; i < n; ++i) values.push_back(std::pow(static_cast<double>(random() >> 11) * 0x1p-53, 3));
      const auto interval = stats::median_interval(values, static_cast<std::uint64_t>(experiment)).value();
      covered += interval.low <= 0.125 && 0.125 <= interval.high;  // the median of a cubed uniform
    }
    const double share = static_cast<double>(covered) / experiments;
    const double expected = std::min(0.95, stats::coverage_bound(static_cast<std::size_t>(n)));
    CHECK(share == Approx(expected).margin(0.07));
  }
}

TEST_CASE("what cannot be resampled is refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(stats::median_interval(std::vector<double>{1, nan}, 1), std::invalid_argument);
  CHECK_THROWS_AS(stats::median_interval(std::vector<double>{1, infinity}, 1), std::invalid_argument);
  for (const double level : {0.0, 1.0, -1.0, nan}) {
    CHECK_THROWS_AS(stats::median_interval(std::vector<double>{1, 2}, 1, level), std::invalid_argument);
  }
  using Metrics = std::vector<std::vector<double>>;
  CHECK_THROWS_AS(stats::resampled_medians(Metrics{}, 1), std::invalid_argument);
  CHECK_THROWS_AS(stats::resampled_medians(Metrics{{}}, 1), std::invalid_argument);
  CHECK_THROWS_AS(stats::resampled_medians(Metrics{{1, 2}, {1}}, 1), std::invalid_argument);
  CHECK_THROWS_AS(stats::percentile_interval({}), std::invalid_argument);
}
