#include <paretopipe/analysis/stats/aggregate.hpp>

#include <support/catch.hpp>

#include "samples.hpp"

using namespace paretopipe;
using testing::make_failure;
using testing::make_record;
using testing::make_trial;

namespace {

record::TrialRecord with_compute(const experiment::Trial& trial, std::int64_t compute0) {
  return make_record(trial, {compute0, 4000, 3000, 2000}, 8000);
}

}  // namespace

TEST_CASE("repetitions of one trial make one configuration with the median of every metric") {
  std::vector<record::TrialRecord> records{with_compute(make_trial(3, 0), 9000), with_compute(make_trial(3, 1), 1000),
                                           with_compute(make_trial(3, 2), 5000)};
  const auto groups = stats::aggregate(records);
  REQUIRE(groups.size() == 1);
  REQUIRE(groups[0].configurations.size() == 1);
  const auto& configuration = groups[0].configurations[0];
  CHECK(configuration.ok == std::vector<std::size_t>{0, 1, 2});
  CHECK(configuration.median(record::find_metric("compute_stage0")) == 5000);
  CHECK(configuration.median(record::find_metric("payload")) == 8000);
  records.push_back(with_compute(make_trial(3, 3), 6000));  // of an even number it is the mean of the middle two
  CHECK(stats::aggregate(records).at(0).configurations.at(0).median(record::find_metric("compute_stage0")) == 5500);
}

TEST_CASE("failed repetitions are counted and enter no median") {
  auto half_measured = with_compute(make_trial(3, 2), 1'000'000);
  half_measured.status = record::Status::failed;
  const std::vector<record::TrialRecord> records{with_compute(make_trial(3, 0), 9000),
                                                 make_failure(make_trial(3, 1), "stage died"), half_measured,
                                                 make_failure(make_trial(4, 0), "stage died")};
  const auto groups = stats::aggregate(records);
  REQUIRE(groups.at(0).configurations.size() == 2);
  const auto& measured = groups[0].configurations[0];
  CHECK(measured.ok == std::vector<std::size_t>{0});
  CHECK(measured.failed == std::vector<std::size_t>{1, 2});
  CHECK(measured.median(record::find_metric("compute_stage0")) == 9000);
  const auto& failed = groups[0].configurations[1];
  CHECK(failed.ok.empty());
  for (const auto& metric : record::metrics()) CHECK_FALSE(failed.median(metric).has_value());
}

TEST_CASE("groups differ in anything but split and repetition, and list their splits in ascending order") {
  auto other_batch = make_trial(2);
  other_batch.batch = 16;
  auto other_tuning = make_trial(2);
  other_tuning.tuning.flush_denormals = false;
  const std::vector<record::TrialRecord> records{with_compute(make_trial(10), 1000), with_compute(other_batch, 1000),
                                                 with_compute(make_trial(2), 1000), with_compute(other_tuning, 1000),
                                                 with_compute(make_trial(2, 1), 1000)};
  const auto groups = stats::aggregate(records);
  REQUIRE(groups.size() == 3);
  REQUIRE(groups[0].configurations.size() == 2);
  CHECK(groups[0].configurations[0].trial.split_points == std::vector{2});
  CHECK(groups[0].configurations[0].ok == std::vector<std::size_t>{2, 4});
  CHECK(groups[0].configurations[1].trial.split_points == std::vector{10});
  CHECK(groups[1].settings().batch == 16);
  CHECK_FALSE(groups[2].settings().tuning.flush_denormals);
  CHECK(stats::aggregate({}).empty());
}
