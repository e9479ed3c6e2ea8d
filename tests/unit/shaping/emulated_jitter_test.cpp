#include <paretopipe/shaping/emulated/schedule.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <support/catch.hpp>

using paretopipe::experiment::DelayDistribution;
using paretopipe::shaping::EmulatedJitter;

namespace {

constexpr std::size_t kCount = 400'000;

std::vector<double> sorted_sample(DelayDistribution distribution) {
  EmulatedJitter jitter(distribution, 42);
  std::vector<double> values(kCount);
  std::ranges::generate(values, [&] { return jitter.next(); });
  std::ranges::sort(values);
  return values;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

double quantile(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size()))];
}

}  // namespace

TEST_CASE("uniform jitter lies between -1 and 1") {
  const auto values = sorted_sample(DelayDistribution::uniform);
  CHECK(values.front() > -1.0);
  CHECK(values.back() <= 1.0);
  CHECK(mean(values) == Approx(0).margin(0.005));
  CHECK(standard_deviation(values) == Approx(1 / std::sqrt(3.0)).margin(0.005));
}

// The numbers are those of the tables that iproute2 6.1 ships: mean, standard deviation, and the entries at a tenth, a
// quarter, a half, three quarters and nine tenths.
TEST_CASE("normal jitter is that of netem's table") {
  const auto values = sorted_sample(DelayDistribution::normal);
  CHECK(values.front() >= -4.0);
  CHECK(values.back() <= 4.0);
  CHECK(mean(values) == Approx(0).margin(0.01));
  CHECK(standard_deviation(values) == Approx(1).margin(0.01));
  CHECK(quantile(values, 0.1) == Approx(-1.282).margin(0.015));
  CHECK(quantile(values, 0.75) == Approx(0.675).margin(0.015));
}

TEST_CASE("Pareto jitter is that of netem's table") {
  const auto values = sorted_sample(DelayDistribution::pareto);
  CHECK(values.front() >= -2.0 / 3.0);
  CHECK(values.back() <= 4.0);
  CHECK(mean(values) == Approx(-0.0335).margin(0.01));
  CHECK(standard_deviation(values) == Approx(0.8197).margin(0.01));
  CHECK(quantile(values, 0.1) == Approx(-0.6191).margin(0.015));
  CHECK(quantile(values, 0.5) == Approx(-0.3201).margin(0.015));
  CHECK(quantile(values, 0.9) == Approx(0.8717).margin(0.015));
}

TEST_CASE("Pareto-normal jitter is that of netem's table") {
  const auto values = sorted_sample(DelayDistribution::paretonormal);
  CHECK(values.back() <= 4.0);
  CHECK(mean(values) == Approx(-0.0253).margin(0.01));
  CHECK(standard_deviation(values) == Approx(0.8339).margin(0.01));
  CHECK(quantile(values, 0.1) == Approx(-0.7849).margin(0.015));
  CHECK(quantile(values, 0.25) == Approx(-0.5679).margin(0.015));
  CHECK(quantile(values, 0.5) == Approx(-0.2400).margin(0.015));
  CHECK(quantile(values, 0.9) == Approx(0.974).margin(0.015));
}

TEST_CASE("the same seed gives the same jitter, another seed another") {
  for (const auto distribution : {DelayDistribution::uniform, DelayDistribution::normal, DelayDistribution::pareto,
                                  DelayDistribution::paretonormal}) {
    EmulatedJitter one(distribution, 1);
    EmulatedJitter same(distribution, 1);
    EmulatedJitter other(distribution, 2);
    int differences = 0;
    for (int i = 0; i < 100; ++i) {
      const double value = one.next();
      CHECK(same.next() == value);
      if (other.next() != value) ++differences;
    }
    CHECK(differences > 90);
  }
}
