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
using stats::mann_whitney;
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
  CHECK(stats::smallest_p_value(3, 3) == Approx(0.1));
  CHECK(stats::smallest_p_value(4, 4) == Approx(2.0 / 70));
  CHECK(stats::smallest_p_value(0, 50) == 1);
  CHECK(stats::smallest_p_value(50, 0) == 1);
  CHECK(stats::smallest_p_value(5000, 5000) == 0);
}
