#include <paretopipe/analysis/stats/significance.hpp>

#include <cmath>
#include <random>
#include <vector>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::stats;
using Values = std::vector<double>;

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
