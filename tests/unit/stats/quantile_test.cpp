#include <paretopipe/analysis/stats/quantile.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include <support/catch.hpp>

namespace stats = paretopipe::stats;
using paretopipe::stats::outer_fence_ns;

TEST_CASE("quantiles interpolate between order statistics as R's type 7 does") {
  // R: quantile(c(1, 3, 4, 10), c(0, .1, .25, .5, .9, 1), type = 7)
  const std::vector<double> values{4, 10, 1, 3};
  CHECK(stats::quantile(values, 0.00).value() == 1);
  CHECK(stats::quantile(values, 0.10).value() == Approx(1.6));
  CHECK(stats::quantile(values, 0.25).value() == Approx(2.5));
  CHECK(stats::quantile(values, 0.50).value() == Approx(3.5));
  CHECK(stats::quantile(values, 0.90).value() == Approx(8.2));
  CHECK(stats::quantile(values, 1.00).value() == 10);
}

TEST_CASE("the quantile at 1 is the largest value, whatever the count") {
  for (int count = 1; count < 300; ++count) {
    std::vector<double> values;
    for (int i = 0; i < count; ++i) values.push_back(i * 0.1);
    REQUIRE(stats::quantile(values, 1).value() == values.back());
    REQUIRE(stats::quantile(values, std::nextafter(1.0, 0.0)).value() <= values.back());
  }
}

TEST_CASE("quantiles of no values do not exist") {
  CHECK_FALSE(stats::quantile({}, 0.5));
  CHECK_FALSE(stats::median({}));
  CHECK_FALSE(stats::mean({}));
  CHECK_FALSE(stats::distribution({}));
}

TEST_CASE("a q outside 0 to 1 and NaN among the values are refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(stats::quantile({1, 2}, -0.01), std::invalid_argument);
  CHECK_THROWS_AS(stats::quantile({1, 2}, 1.01), std::invalid_argument);
  CHECK_THROWS_AS(stats::quantile({1, 2}, nan), std::invalid_argument);
  CHECK_THROWS_AS(stats::quantile({1, nan, 2}, 0.5), std::invalid_argument);
}

TEST_CASE("the median of an even count is the mean of the middle two") {
  CHECK(stats::median({9, 1, 5}).value() == 5);
  CHECK(stats::median({9, 1, 5, 6}).value() == 5.5);
}

TEST_CASE("a distribution agrees with the quantiles of the same durations in any order") {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int64_t> duration(0, 1'000'000);
  std::vector<std::int64_t> durations(101);
  for (auto& d : durations) d = duration(random);
  const std::vector<double> values(durations.begin(), durations.end());
  const auto distribution = stats::distribution(durations).value();
  CHECK(distribution.count == 101);
  CHECK(distribution.min_ns == *std::min_element(values.begin(), values.end()));
  CHECK(distribution.max_ns == *std::max_element(values.begin(), values.end()));
  CHECK(distribution.mean_ns == Approx(std::accumulate(values.begin(), values.end(), 0.0) / 101));
  CHECK(distribution.p50_ns == stats::quantile(values, 0.50).value());
  CHECK(distribution.p90_ns == stats::quantile(values, 0.90).value());
  CHECK(distribution.p95_ns == stats::quantile(values, 0.95).value());
  CHECK(distribution.p99_ns == stats::quantile(values, 0.99).value());
}

TEST_CASE("the outer fence is three interquartile ranges above the upper quartile", "[fence]") {
  const std::vector<std::int64_t> durations{500, 100, 400, 200, 300};  // quartiles 200 and 400
  CHECK(*outer_fence_ns(durations) == Approx(1000));
}

TEST_CASE("where durations hardly differ, a difference under 2 % is none", "[fence]") {
  CHECK(*outer_fence_ns(std::vector<std::int64_t>{1000, 1000, 1000, 1000}) == Approx(1020));
}

TEST_CASE("of fewer than four durations no fence is known", "[fence]") {
  CHECK_FALSE(outer_fence_ns(std::vector<std::int64_t>{}).has_value());
  CHECK_FALSE(outer_fence_ns(std::vector<std::int64_t>{1, 2, 3}).has_value());
}
