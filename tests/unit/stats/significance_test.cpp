#include <paretopipe/analysis/stats/significance.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::stats;
using Values = std::vector<double>;

namespace {

/// By the definition: pairs in which the second's value is the larger, a tie counting one half.
double u_of(const Values& first, const Values& second) {
  double u = 0;
  for (const double x : first) {
    for (const double y : second) u += y > x ? 1 : y == x ? 0.5 : 0;
  }
  return u;
}

/// U of every way to deal the values of both samples to samples of the same sizes.
std::vector<double> all_u(const Values& first, const Values& second) {
  Values all = first;
  all.insert(all.end(), second.begin(), second.end());
  std::vector<bool> is_second(all.size(), false);
  std::fill(is_second.end() - static_cast<std::ptrdiff_t>(second.size()), is_second.end(), true);
  std::vector<double> us;
  do {
    Values x, y;
    for (std::size_t i = 0; i < all.size(); ++i) (is_second[i] ? y : x).push_back(all[i]);
    us.push_back(u_of(x, y));
  } while (std::next_permutation(is_second.begin(), is_second.end()));
  return us;
}

double share_as_far(const std::vector<double>& us, double u, double mean) {
  const auto as_far = std::count_if(us.begin(), us.end(),
                                    [&](double other) { return std::abs(other - mean) >= std::abs(u - mean) - 1e-9; });
  return static_cast<double>(as_far) / static_cast<double>(us.size());
}

Values distinct_values(std::mt19937& random, std::size_t count, Values& pool) {
  std::shuffle(pool.begin(), pool.end(), random);
  Values values(pool.end() - static_cast<std::ptrdiff_t>(count), pool.end());
  pool.resize(pool.size() - count);
  return values;
}

}  // namespace

TEST_CASE("without ties p is the share of all deals whose U is at least as far from its mean") {
  std::mt19937 random(1);
  for (std::size_t m = 1; m <= 6; ++m) {
    for (std::size_t n = 1; n <= 6; ++n) {
      Values pool(40);
      std::iota(pool.begin(), pool.end(), -7.5);
      const auto first = distinct_values(random, m, pool);
      const auto second = distinct_values(random, n, pool);
      const auto result = mann_whitney(first, second);
      CAPTURE(m, n);
      CHECK(result.exact);
      CHECK(result.u == u_of(first, second));
      CHECK(result.p_value == Approx(share_as_far(all_u(first, second), result.u, static_cast<double>(m * n) / 2)));
    }
  }
}

TEST_CASE("published examples are met") {
  // SciPy's manual, mannwhitneyu: ages at the onset of diabetes; U1 = 17 of the first, so 3 of the second.
  const auto ages = mann_whitney(Values{19, 22, 16, 29, 24}, Values{20, 11, 17, 12});
  CHECK(ages.u == 3);
  CHECK(ages.p_value == Approx(1.0 / 9));
  // R's manual, wilcox.test: permeability constants of the human chorioamnion (Hollander and Wolfe); W = 35 of the
  // first, one-sided p = 0.1272.
  const auto constants = mann_whitney(Values{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46},
                                      Values{1.15, 0.88, 0.90, 0.74, 1.21});
  CHECK(constants.u == 50 - 35);
  CHECK(constants.p_value == Approx(2 * 0.1272).epsilon(0.001));
  // Mann and Whitney's own table of 1947: P(U <= 2) for 5 and 5 is 0.016.
  const auto table = mann_whitney(Values{1, 2, 3, 4, 7}, Values{5, 6, 8, 9, 10});
  CHECK(table.u == 25 - 2);
  CHECK(table.p_value / 2 == Approx(0.016).margin(0.0005));
}

TEST_CASE("with ties p is the normal approximation with the variance that all deals have") {
  for (const auto& [first, second] : std::vector<std::pair<Values, Values>>{
           {{1, 2, 2, 3, 9}, {2, 3, 4, 4, 5, 6}}, {{7, 7, 7, 8}, {7, 8, 8, 8, 9}}, {{1, 1}, {1, 2}}}) {
    const auto us = all_u(first, second);
    const double mean = std::accumulate(us.begin(), us.end(), 0.0) / static_cast<double>(us.size());
    double variance = 0;
    for (const double u : us) variance += (u - mean) * (u - mean) / static_cast<double>(us.size());
    const auto result = mann_whitney(first, second);
    CHECK_FALSE(result.exact);
    CHECK(result.u == u_of(first, second));
    const double z = std::max(0.0, std::abs(result.u - mean) - 0.5) / std::sqrt(variance);
    CHECK(result.p_value == Approx(std::erfc(z / std::sqrt(2.0))));
  }
}

TEST_CASE("at the border of the exact test the approximation says nearly the same") {
  Values first, second;
  for (int i = 0; i < 20; ++i) {
    first.push_back(i);
    second.push_back(i + 6.5);
  }
  const auto exact = mann_whitney(first, second);
  first.push_back(10.25);
  const auto approximate = mann_whitney(first, second);
  CHECK(exact.exact);
  CHECK_FALSE(approximate.exact);
  CHECK(exact.p_value == Approx(approximate.p_value).epsilon(0.15));
}

TEST_CASE("large samples that lie apart have a p-value of nearly nothing, and no number overflows") {
  Values low(1000), high(1000);
  std::iota(low.begin(), low.end(), 0.0);
  std::iota(high.begin(), high.end(), 5000.0);
  const auto result = mann_whitney(low, high);
  CHECK(result.u == 1e6);
  CHECK(result.p_value >= 0);
  CHECK(result.p_value < 1e-300);
}

TEST_CASE("which sample comes first does not change p") {
  const Values first{3, 1, 4, 1, 5}, second{9, 2, 6};
  CHECK(mann_whitney(first, second).p_value == mann_whitney(second, first).p_value);
  CHECK(mann_whitney(first, second).u + mann_whitney(second, first).u == 15);
}

TEST_CASE("equal values are no evidence, one against one is none either") {
  CHECK(mann_whitney(Values{5, 5, 5, 5}, Values{5, 5, 5, 5}).p_value == 1);
  CHECK(mann_whitney(Values{1}, Values{2}).p_value == 1);
  CHECK(mann_whitney(Values{2}, Values{2}).p_value == 1);
}

TEST_CASE("an empty sample and NaN are refused") {
  CHECK_THROWS_AS(mann_whitney(Values{}, Values{1}), std::invalid_argument);
  CHECK_THROWS_AS(mann_whitney(Values{1}, Values{}), std::invalid_argument);
  CHECK_THROWS_AS(mann_whitney(Values{1}, Values{std::numeric_limits<double>::quiet_NaN()}), std::invalid_argument);
}

TEST_CASE("the smallest p-value is that of samples which do not overlap") {
  for (std::size_t m = 1; m <= 7; ++m) {
    for (std::size_t n = 1; n <= 7; ++n) {
      Values low(m), high(n);
      std::iota(low.begin(), low.end(), 0.0);
      std::iota(high.begin(), high.end(), 100.0);
      CAPTURE(m, n);
      CHECK(stats::smallest_p_value(m, n) == Approx(mann_whitney(low, high).p_value));
    }
  }
  // Not with ties either, for which p is approximate.
  CHECK(mann_whitney(Values{1, 1, 1}, Values{2, 2, 2}).p_value == Approx(0.1));
  CHECK(mann_whitney(Values{1, 1, 1, 1, 1}, Values{2, 2, 2, 2, 2}).p_value == Approx(2.0 / 252));
  CHECK(stats::smallest_p_value(3, 3) == Approx(0.1));
  CHECK(stats::smallest_p_value(4, 4) == Approx(2.0 / 70));
  CHECK(stats::smallest_p_value(0, 50) == 1);
  CHECK(stats::smallest_p_value(50, 0) == 1);
  CHECK(stats::smallest_p_value(5000, 5000) == 0);
}

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

namespace {

Values normal_values(std::mt19937_64& random, std::size_t count, double mean) {
  std::normal_distribution<double> distribution(mean, mean / 10);
  Values values(count);
  for (auto& value : values) value = distribution(random);
  return values;
}

double delta_by_definition(const Values& before, const Values& now) {
  double sum = 0;
  for (const double x : before) {
    for (const double y : now) sum += y > x ? 1 : y < x ? -1 : 0;
  }
  return sum / static_cast<double>(before.size() * now.size());
}

}  // namespace

TEST_CASE("the ratio of medians is that of the new to the old, and none where that is no number") {
  CHECK(ratio_of_medians(Values{1, 2, 9}, Values{3, 4, 5, 100}) == 2.25);
  CHECK(ratio_of_medians(Values{4}, Values{0}) == 0.0);
  CHECK_FALSE(ratio_of_medians(Values{0, 0, 5}, Values{1}).has_value());
  CHECK_FALSE(ratio_of_medians(Values{-1}, Values{1}).has_value());
  CHECK_FALSE(ratio_of_medians(Values{5e-324}, Values{1e300}).has_value());
  CHECK_FALSE(ratio_of_medians(Values{}, Values{1}).has_value());
  CHECK_FALSE(ratio_of_medians(Values{1}, Values{}).has_value());
}

TEST_CASE("the interval of a ratio is the same for the same arguments, and another for another seed") {
  const Values before{10, 11, 12, 13, 14, 15, 16}, now{20, 22, 23, 25, 26, 29};
  CHECK(ratio_interval(before, now, 7) == ratio_interval(before, now, 7));
  bool differs = false;  // of so few values many draws have the same quantiles
  for (std::uint64_t seed = 8; seed < 50; ++seed) {
    differs = differs || ratio_interval(before, now, seed, 0.5) != ratio_interval(before, now, 7, 0.5);
  }
  CHECK(differs);
}

TEST_CASE("the two samples of a ratio vary independently") {
  // Drawn alike, equal samples would have the ratio 1 in every resample.
  const Values values{1, 2, 3, 4, 5, 6, 7};
  const auto interval = ratio_interval(values, values, 1);
  REQUIRE(interval.has_value());
  CHECK(interval->low < 0.8);
  CHECK(interval->high > 1.25);
}

TEST_CASE("values that do not vary have a ratio without width") {
  CHECK(ratio_interval(Values{4, 4, 4}, Values{5, 5}, 1) == Interval{1.25, 1.25});
}

TEST_CASE("the interval of a ratio covers the true one about as often as it says") {
  std::mt19937_64 random(1);
  int covered = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto before = normal_values(random, 15, 100);
    const auto now = normal_values(random, 15, 120);
    const auto interval = ratio_interval(before, now, static_cast<std::uint64_t>(trial));
    REQUIRE(interval.has_value());
    covered += interval->low <= 1.2 && 1.2 <= interval->high ? 1 : 0;
  }
  CHECK(covered >= kTrials * 90 / 100);
}

TEST_CASE("where a resample has no ratio there is no interval") {
  CHECK_FALSE(ratio_interval(Values{0, 1, 1, 1}, Values{1, 1}, 1).has_value());
  CHECK_FALSE(ratio_interval(Values{5e-324, 5e-324}, Values{1e300, 1e300}, 1).has_value());
  CHECK_FALSE(ratio_interval(Values{1}, Values{1, 2}, 1).has_value());
  CHECK_FALSE(ratio_interval(Values{1, 2}, Values{1}, 1).has_value());
  CHECK_FALSE(ratio_interval(Values{}, Values{}, 1).has_value());
}

TEST_CASE("Cliff's delta is the share of larger pairs less that of smaller ones") {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> small(0, 6);
  for (int trial = 0; trial < 50; ++trial) {
    Values before(1 + static_cast<std::size_t>(small(random))), now(1 + static_cast<std::size_t>(small(random)));
    for (auto* values : {&before, &now}) {
      for (auto& value : *values) value = small(random);
    }
    CHECK(*cliffs_delta(before, now) == Approx(delta_by_definition(before, now)).margin(1e-12));
  }
  CHECK(cliffs_delta(Values{1, 2}, Values{3, 4}) == 1.0);
  CHECK(cliffs_delta(Values{3, 4}, Values{1, 2}) == -1.0);
  CHECK(cliffs_delta(Values{5, 5}, Values{5}) == 0.0);
  CHECK_FALSE(cliffs_delta(Values{}, Values{5}).has_value());
}
