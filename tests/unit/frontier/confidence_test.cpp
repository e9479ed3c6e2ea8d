#include <paretopipe/analysis/frontier/frontier.hpp>
#include <paretopipe/analysis/frontier/frontier_report.hpp>

#include <algorithm>
#include <array>

#include <support/catch.hpp>

#include "measured.hpp"

using namespace paretopipe;
using testing::measured;
using testing::row_of;

namespace {

using Records = std::vector<record::TrialRecord>;

frontier::FrontierReport report_of(const Records& records, std::uint64_t seed = 1) {
  return frontier::make_frontier_report(records, frontier::parse_objectives({}),
                                        {.constraints = {}, .reference = {}, .seed = seed});
}

/// The medians of two repetitions, drawn anew, with their probabilities.
std::array<std::pair<double, double>, 3> medians_of_two(double a, double b) {
  return {{{a, 0.25}, {(a + b) / 2, 0.5}, {b, 0.25}}};
}

}  // namespace

TEST_CASE("the probability of being on the frontier is what an enumeration of all resamples gives") {
  // Of two repetitions each: 1 has latencies 10 and 20 at throughputs 5 and 6, 2 has 12 and 16 at 5.5 and 5.7.
  const auto report =
      report_of({measured(1, 0, 10, 5), measured(1, 1, 20, 6), measured(2, 0, 12, 5.5), measured(2, 1, 16, 5.7)});
  double first = 0, second = 0;
  const auto latency1 = medians_of_two(10, 20), throughput1 = medians_of_two(5, 6);
  const auto latency2 = medians_of_two(12, 16), throughput2 = medians_of_two(5.5, 5.7);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const double weight = latency1[i].second * latency2[j].second;
      // A repetition's latency and throughput stay together: the same index picks both. No two latencies are equal.
      const bool one_beats_two = latency1[i].first < latency2[j].first && throughput1[i].first >= throughput2[j].first;
      const bool two_beats_one = latency2[j].first < latency1[i].first && throughput2[j].first >= throughput1[i].first;
      if (!two_beats_one) first += weight;
      if (!one_beats_two) second += weight;
    }
  }
  REQUIRE(first < 1);
  CHECK(row_of(report, 1).frontier_probability.value() == Approx(first).margin(0.03));
  CHECK(row_of(report, 2).frontier_probability.value() == Approx(second).margin(0.03));
}

TEST_CASE("repetitions that agree leave no doubt, and those that overlap do") {
  Records records;
  for (int repetition = 0; repetition < 5; ++repetition) {
    records.push_back(measured(1, repetition, 10 + repetition % 3, 100 + repetition % 2));
    records.push_back(measured(2, repetition, 11 - repetition % 2, 100 + repetition % 3));
    records.push_back(measured(3, repetition, 50 + repetition, 20 + repetition));
    records.push_back(measured(4, repetition, 5, 50));
    records.push_back(measured(5, repetition, 5, 50));
  }
  const auto report = report_of(records);
  CHECK(row_of(report, 3).frontier_probability == 0.0);
  CHECK(row_of(report, 3).alike.empty());
  CHECK(row_of(report, 4).frontier_probability == 1.0);
  CHECK(row_of(report, 5).frontier_probability == 1.0);
  CHECK(row_of(report, 1).frontier_probability.value() > 0.05);
  CHECK(row_of(report, 1).frontier_probability.value() < 1);
  CHECK(row_of(report, 1).alike == std::vector<std::size_t>{1});
  CHECK(row_of(report, 2).alike == std::vector<std::size_t>{0});
  CHECK(row_of(report, 4).alike == std::vector<std::size_t>{4});
  CHECK(row_of(report, 4).intervals[0] == stats::Interval{5e6, 5e6});
}

TEST_CASE("to differ in one objective is to differ") {
  Records records;
  for (int repetition = 0; repetition < 6; ++repetition) {
    records.push_back(measured(1, repetition, 10 + repetition, 100 + repetition));
    records.push_back(measured(2, repetition, 10 + repetition, 200 + repetition));
  }
  CHECK(row_of(report_of(records), 1).alike.empty());
  const auto alone = frontier::make_frontier_report(records, frontier::parse_objectives({"latency_p50"}));
  CHECK(row_of(alone, 1).alike == std::vector<std::size_t>{1});
}

TEST_CASE("the same seed gives the same probabilities, and other splits do not move an interval") {
  Records records;
  for (int repetition = 0; repetition < 7; ++repetition) {
    records.push_back(measured(1, repetition, 10 + repetition * repetition % 5, 100));
    records.push_back(measured(2, repetition, 11 + repetition * 3 % 4, 101));
  }
  const auto first = report_of(records), again = report_of(records);
  CHECK(row_of(first, 1).frontier_probability == row_of(again, 1).frontier_probability);
  CHECK(row_of(first, 1).intervals == row_of(again, 1).intervals);
  records.push_back(measured(3, 0, 1, 1));
  CHECK(row_of(first, 1).intervals == row_of(report_of(records), 1).intervals);
  CHECK(row_of(first, 1).frontier_probability != row_of(report_of(records, 99), 1).frontier_probability);
}

TEST_CASE("one repetition has no interval and no probability, and still keeps others off the frontier") {
  Records records{measured(1, 0, 1, 1000)};
  for (int repetition = 0; repetition < 3; ++repetition) records.push_back(measured(2, repetition, 10, 100));
  const auto report = report_of(records);
  CHECK_FALSE(row_of(report, 1).intervals[0].has_value());
  CHECK_FALSE(row_of(report, 1).frontier_probability.has_value());
  CHECK(row_of(report, 1).alike.empty());
  CHECK(row_of(report, 2).frontier_probability == 0.0);
}

TEST_CASE("failed and invalid repetitions and splits without an objective take no part in resampling") {
  Records records;
  for (int repetition = 0; repetition < 3; ++repetition) {
    records.push_back(measured(2, repetition, 10 + repetition, 100));
    records.push_back(testing::make_failure(testing::make_trial(3, repetition), "died"));
    records.push_back(measured(4, repetition, 1, 1000));
    records.back().status = record::Status::invalid;
  }
  const auto report = report_of(records);
  CHECK(row_of(report, 2).frontier_probability == 1.0);
  CHECK_FALSE(row_of(report, 3).frontier_probability.has_value());
  CHECK_FALSE(row_of(report, 4).frontier_probability.has_value());
  CHECK(row_of(report, 3).intervals == std::vector<std::optional<stats::Interval>>(2));
}
