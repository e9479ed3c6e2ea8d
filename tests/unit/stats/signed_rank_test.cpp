#include <paretopipe/analysis/stats/significance.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <support/catch.hpp>

using namespace paretopipe;
using stats::signed_rank;
using Values = std::vector<double>;

namespace {

/// By the definition: the mean rank of the step's size among all sizes that are not 0.
double rank_of(double step, const Values& steps) {
  double smaller = 0, equal = 0;
  for (const double other : steps) {
    if (other == 0) continue;
    smaller += std::abs(other) < std::abs(step) ? 1 : 0;
    equal += std::abs(other) == std::abs(step) ? 1 : 0;
  }
  return smaller + (equal + 1) / 2;
}

double rank_sum_of(const Values& steps) {
  double sum = 0;
  for (const double step : steps) sum += step > 0 ? rank_of(step, steps) : 0;
  return sum;
}

/// Of all ways to give the steps other signs, the share whose rank sum is at least as far from its mean.
double share_as_far(const Values& steps) {
  double mean = 0;
  for (const double step : steps) mean += step == 0 ? 0 : rank_of(step, steps) / 2;
  const double distance = std::abs(rank_sum_of(steps) - mean);
  int as_far = 0;
  const unsigned ways = 1U << steps.size();
  for (unsigned signs = 0; signs < ways; ++signs) {
    auto other = steps;
    for (std::size_t i = 0; i < other.size(); ++i) other[i] *= (signs >> i & 1U) == 0 ? 1 : -1;
    as_far += std::abs(rank_sum_of(other) - mean) >= distance - 1e-9 ? 1 : 0;
  }
  return as_far / static_cast<double>(ways);
}

Values random_steps(std::mt19937& random, std::size_t count, bool ties) {
  std::uniform_int_distribution<int> step(-3, 4);
  std::normal_distribution<double> any(0.4, 1);
  Values steps(count);
  for (auto& value : steps) value = ties ? step(random) : any(random);
  return steps;
}

/// Hollander and Wolfe's patients before and after the first session, as R's manual of wilcox.test has them.
const Values kPatients{0.952, -0.147, 1.022, 0.43, 0.62, 0.59, 0.49, -0.08, 0.01};

}  // namespace

TEST_CASE("p is the share of all signs whose rank sum is at least as far from its mean, with ties and zeros too") {
  std::mt19937 random(1);
  for (std::size_t count = 1; count <= 10; ++count) {
    for (const bool ties : {false, true}) {
      const auto steps = random_steps(random, count, ties);
      CAPTURE(steps);
      const auto result = signed_rank(steps);
      CHECK(result.rank_sum == rank_sum_of(steps));
      CHECK(result.p_value == Approx(share_as_far(steps)));
    }
  }
}

TEST_CASE("a published example is met") {
  const auto result = signed_rank(kPatients);
  CHECK(result.rank_sum == 40);
  CHECK(result.p_value == Approx(2 * 0.01953).epsilon(0.001));
  CHECK(result.rank_biserial == Approx(2 * 40 / 45.0 - 1));
  CHECK(*stats::typical_step(kPatients) == Approx(0.46));
}

TEST_CASE("steps that are all 0 say nothing, and one that is not a number is refused") {
  const auto result = signed_rank(Values{0, 0, 0, 0, 0, 0, 0});
  CHECK(result.p_value == 1);
  CHECK(result.rank_biserial == 0);
  CHECK_THROWS_AS(signed_rank(Values{}), std::invalid_argument);
  CHECK_THROWS_AS(signed_rank(Values{1, std::numeric_limits<double>::quiet_NaN()}), std::invalid_argument);
}

TEST_CASE("no steps have a smaller p than those that all go one way, and that is what the bound says") {
  for (std::size_t count = 1; count <= 12; ++count) {
    Values steps(count);
    for (std::size_t i = 0; i < count; ++i) steps[i] = -1 - static_cast<double>(i);
    CHECK(signed_rank(steps).p_value == Approx(stats::smallest_paired_p_value(count)));
    CHECK(signed_rank(steps).rank_biserial == -1);
  }
  CHECK(stats::smallest_paired_p_value(0) == 1);
  CHECK(stats::smallest_paired_p_value(5) > 0.05);
  CHECK(stats::smallest_paired_p_value(6) < 0.05);
}

TEST_CASE("the interval leaves 0 out exactly where the test has an objection to it") {
  std::mt19937 random(2);
  int outside = 0;
  for (int i = 0; i < 400; ++i) {
    const auto steps = random_steps(random, 6 + static_cast<std::size_t>(i) % 9, false);
    const auto interval = stats::typical_step_interval(steps);
    REQUIRE(interval.has_value());
    const bool without = interval->low > 0 || interval->high < 0;
    CAPTURE(steps);
    CHECK(without == (signed_rank(steps).p_value < 0.05));
    CHECK(interval->low <= *stats::typical_step(steps));
    CHECK(interval->high >= *stats::typical_step(steps));
    outside += without ? 1 : 0;
  }
  CHECK(outside > 20);
  CHECK(outside < 380);
}

TEST_CASE("the interval covers what it is to cover, and too few steps have none") {
  std::mt19937 random(3);
  std::normal_distribution<double> step(0, 1);
  int missed = 0;
  for (int i = 0; i < 2000; ++i) {
    Values steps(8);
    for (auto& value : steps) value = step(random);
    const auto interval = stats::typical_step_interval(steps);
    missed += interval->low > 0 || interval->high < 0 ? 1 : 0;
  }
  CHECK(missed < 0.05 * 2000);
  CHECK_FALSE(stats::typical_step_interval(Values{1, 2, 3, 4, 5}).has_value());
  CHECK_FALSE(stats::typical_step_interval(Values{}).has_value());
  CHECK(stats::typical_step_interval(Values{1, 2, 3, 4, 5}, 0.9) == stats::Interval{1, 5});
}
