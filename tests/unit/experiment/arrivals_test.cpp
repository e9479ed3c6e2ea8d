#include <paretopipe/experiment/plan.hpp>

#include <cmath>
#include <numeric>

#include <support/catch.hpp>
#include <support/queueing.hpp>

using paretopipe::experiment::arrivals_seed;
using paretopipe::experiment::poisson_arrivals;

namespace {

std::vector<double> gaps_of(const std::vector<std::int64_t>& arrivals) {
  std::vector<double> gaps{static_cast<double>(arrivals.front())};
  for (std::size_t i = 1; i < arrivals.size(); ++i) gaps.push_back(static_cast<double>(arrivals[i] - arrivals[i - 1]));
  return gaps;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

struct Estimate {
  double mean;
  double half_width;  ///< of the 99.9 % interval
};

/// By batch means (Law and Kelton, Simulation Modeling and Analysis): waits of neighbours in a queue are alike, means
/// over long stretches hardly. 3.66 is Student's t with 31 degrees of freedom.
Estimate estimate(const std::vector<std::int64_t>& waits) {
  constexpr std::size_t kStretches = 32;
  const auto length = waits.size() / kStretches;
  std::vector<double> means;
  for (std::size_t i = 0; i < kStretches; ++i) {
    const auto begin = waits.begin() + static_cast<std::ptrdiff_t>(i * length);
    means.push_back(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(length), 0.0) /
                    static_cast<double>(length));
  }
  const double mean = mean_of(means);
  double squares = 0;
  for (const double value : means) squares += (value - mean) * (value - mean);
  return {mean, 3.66 * std::sqrt(squares / (kStretches - 1) / kStretches)};
}

}  // namespace

TEST_CASE("as many queries arrive as are asked for, in order, and the same for the same seed") {
  CHECK(poisson_arrivals(10, 0, 1).empty());
  CHECK(poisson_arrivals(10, 1, 1).size() == 1);
  const auto arrivals = poisson_arrivals(10, 1000, 1);
  CHECK(arrivals.size() == 1000);
  CHECK(arrivals.front() >= 0);
  CHECK(std::is_sorted(arrivals.begin(), arrivals.end()));
  CHECK(arrivals == poisson_arrivals(10, 1000, 1));
  CHECK(arrivals != poisson_arrivals(10, 1000, 2));
}

TEST_CASE("splits meet the same arrivals, and repetitions and seeds others") {
  paretopipe::experiment::Trial trial;
  trial.split_points = {3};
  const auto seed = arrivals_seed(trial);
  auto other_split = trial;
  other_split.split_points = {4};
  CHECK(arrivals_seed(other_split) == seed);
  auto next_repetition = trial;
  next_repetition.repetition = 1;
  CHECK(arrivals_seed(next_repetition) != seed);
  auto other_seed = trial;
  other_seed.seed = 2;
  CHECK(arrivals_seed(other_seed) != seed);
  CHECK(arrivals_seed(other_seed) != arrivals_seed(next_repetition));
}

TEST_CASE("more queries leave the first ones when they were") {
  const auto few = poisson_arrivals(3, 50, 9);
  auto many = poisson_arrivals(3, 500, 9);
  many.resize(50);
  CHECK(many == few);
}

TEST_CASE("gaps are exponential: their mean, their variance, and the share of the short ones") {
  for (const double rate : {0.5, 50.0, 20'000.0}) {
    const auto gaps = gaps_of(poisson_arrivals(rate, 200'000, 3));
    const double expected = 1e9 / rate;
    const double mean = mean_of(gaps);
    CAPTURE(rate, mean);
    CHECK(std::abs(mean / expected - 1) < 0.01);
    double squares = 0;
    for (const double gap : gaps) squares += (gap - mean) * (gap - mean);
    CHECK(std::abs(squares / static_cast<double>(gaps.size()) / (mean * mean) - 1) < 0.03);
    for (const double share : {0.1, 1.0, 3.0}) {
      const auto shorter = std::count_if(gaps.begin(), gaps.end(), [&](double gap) { return gap < share * expected; });
      CHECK(std::abs(static_cast<double>(shorter) / static_cast<double>(gaps.size()) - 1 + std::exp(-share)) < 0.005);
    }
  }
}

TEST_CASE("a gap says nothing of the next one") {
  const auto gaps = gaps_of(poisson_arrivals(1, 100'000, 4));
  const double mean = mean_of(gaps);
  double product = 0;
  double square = 0;
  for (std::size_t i = 0; i + 1 < gaps.size(); ++i) {
    product += (gaps[i] - mean) * (gaps[i + 1] - mean);
    square += (gaps[i] - mean) * (gaps[i] - mean);
  }
  CHECK(std::abs(product / square) < 0.015);
}

TEST_CASE("the same seed draws the same gaps at every rate, in proportion") {
  const auto slow = poisson_arrivals(10, 1000, 5);
  const auto fast = poisson_arrivals(40, 1000, 5);
  for (std::size_t i = 0; i < slow.size(); ++i) {
    REQUIRE(std::abs(slow[i] - 4 * fast[i]) <= 4);  // both are whole nanoseconds
  }
}

TEST_CASE("no query waits longer at a lower rate, which is what a search for the highest one needs") {
  constexpr std::int64_t kService = 10'000'000;
  auto at_higher = paretopipe::support::lindley_waits(poisson_arrivals(130, 5000, 6), kService);
  for (const double rate : {100.0, 90.0, 60.0, 20.0}) {
    const auto waits = paretopipe::support::lindley_waits(poisson_arrivals(rate, 5000, 6), kService);
    for (std::size_t i = 0; i < waits.size(); ++i) REQUIRE(waits[i] <= at_higher[i]);
    at_higher = waits;
  }
}

TEST_CASE("in front of one server with a constant time of service they wait as M/D/1 says") {
  constexpr double kService = 4e6;
  for (const double rho : {0.2, 0.5, 0.8}) {
    const auto arrivals = poisson_arrivals(rho * 1e9 / kService, 640'000, 7);
    const auto waits = paretopipe::support::lindley_waits(arrivals, static_cast<std::int64_t>(kService));
    const auto [mean, half_width] = estimate(waits);
    const double expected = paretopipe::support::md1_mean_wait_ns(rho, kService);
    CAPTURE(rho, mean, half_width, expected);
    CHECK(std::abs(mean - expected) < half_width);
    CHECK(half_width < 0.05 * expected);
  }
}
