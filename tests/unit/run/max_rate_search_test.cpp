#include <paretopipe/run/server_phase.hpp>

#include <vector>

#include <support/catch.hpp>

using paretopipe::run::MaxRateSearch;

namespace {

struct Outcome {
  std::vector<double> rates;
  double kept = 0;
  double missed = 0;
};

/// Of a system that keeps the bound up to `limit`.
Outcome search(double first, double limit) {
  Outcome outcome;
  MaxRateSearch search(first);
  while (const auto rate = search.next()) {
    outcome.rates.push_back(*rate);
    const bool kept = *rate <= limit;
    if (kept) outcome.kept = std::max(outcome.kept, *rate);
    if (!kept) outcome.missed = outcome.missed == 0 ? *rate : std::min(outcome.missed, *rate);
    search.tried(kept);
  }
  return outcome;
}

}  // namespace

TEST_CASE("wherever the limit lies, the search brackets it to its resolution") {
  for (double limit = 12.5; limit < 3000; limit *= 1.07) {
    const auto outcome = search(100, limit);
    CAPTURE(limit, outcome.kept, outcome.missed);
    CHECK(outcome.missed > limit);
    CHECK(outcome.missed <= (1 + MaxRateSearch::kResolution) * outcome.kept);
    CHECK(outcome.rates.size() <= 10);
  }
}

TEST_CASE("a limit that lies on a rate that is tried is kept") {
  for (const double limit : {12.5, 25.0, 50.0, 100.0, 200.0}) CHECK(search(100, limit).kept == limit);
}

TEST_CASE("where an eighth of the first rate misses, the search ends without an answer") {
  const auto outcome = search(100, 12.4);
  CHECK(outcome.rates == std::vector<double>{100, 50, 25, 12.5});
  CHECK(outcome.kept == 0);
}

TEST_CASE("a bound that nothing breaks ends the search, too") {
  const auto outcome = search(1, 1e30);
  CHECK(outcome.rates.size() == MaxRateSearch::kMostRates);
  CHECK(outcome.missed == 0);
}

TEST_CASE("an outcome that contradicts an earlier one cannot lead the search astray") {
  // Chance decides every outcome: whatever it says, rates stay within the bracket, and the search ends.
  for (unsigned outcomes = 0; outcomes < 1024; ++outcomes) {
    MaxRateSearch search(100);
    double kept = 0;
    double missed = 1e30;
    int count = 0;
    while (const auto rate = search.next()) {
      REQUIRE(*rate > kept);
      REQUIRE(*rate < missed);
      const bool keeps = ((outcomes >> count % 10) & 1) != 0;
      (keeps ? kept : missed) = *rate;
      search.tried(keeps);
      REQUIRE(++count <= MaxRateSearch::kMostRates);
    }
  }
}
