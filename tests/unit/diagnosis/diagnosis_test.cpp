#include <paretopipe/analysis/diagnosis/diagnosis.hpp>

#include <support/catch.hpp>

#include "sweeps.hpp"

using namespace paretopipe;
using namespace paretopipe::diagnosis;
using namespace paretopipe::testing;

TEST_CASE("a group knows its baseline, its fastest split, and every split with a result") {
  auto records = slow_link_sweep();
  records.push_back(make_failure(records[1].trial, "gone"));
  records.back().trial.split_points = {3};
  const auto groups = diagnose_all(records);
  REQUIRE(groups.size() == 1);
  const auto& group = groups.front();
  CHECK(group.configurations.size() == 6);
  CHECK(group.measured_count() == 5);
  CHECK(group.all_wanted());
  REQUIRE(group.all_local() != nullptr);
  CHECK(group.all_local()->trial().all_local());
  REQUIRE(group.fastest() != nullptr);
  CHECK(group.fastest()->trial().split_points == std::vector{5});
  CHECK(group.measured({{8}}) != nullptr);
  CHECK(group.measured({{3}}) == nullptr);
  CHECK(group.measured({{4}}) == nullptr);
  const auto failed = diagnose_all({make_failure(make_trial(3), "a\x1b[31m"), make_failure(make_trial(10), "b")});
  REQUIRE(failed.size() == 1);
  CHECK(failed.front().all_local() == nullptr);
  CHECK(failed.front().fastest() == nullptr);
  CHECK(failed.front().measured_count() == 0);
  CHECK(failed.front().configurations.front().reasons.front() == "run, stage 1: a?[31m");
}

TEST_CASE("numbers are medians over the repetitions that count, and those that disagree are counted") {
  std::vector<record::TrialRecord> records{
      record_of(two_stages(6, 32, 14), {2}, 0), record_of(two_stages(6, 30, 14), {2}, 1),
      record_of(two_stages(6, 2, 34), {2}, 2), make_failure(make_trial(2, 3), "gone")};
  records[3].trial = records[0].trial;
  records[3].trial.repetition = 3;
  const auto groups = diagnose_all(records);
  const auto& one = groups.front().configurations.front();
  REQUIRE(one.demands.has_value());
  CHECK(one.demands->links[0].busy.mean_ns == Approx(30e6));
  CHECK(one.bounds.front().kind == Kind::link);
  CHECK(one.agreeing == 2);
  CHECK(one.configuration.ok.size() == 3);
  CHECK(one.reasons == std::vector<std::string>{"run, stage 1: gone"});
}

TEST_CASE("what is wanted of a configuration alone enters its numbers, and the rest is there to compare with") {
  auto records = slow_link_sweep();
  records.push_back(record_of(two_stages(6, 12, 14), {2}, 1));
  auto elsewhere = make_record(make_trial(3), {1000, 1000, 1000, 1000}, 1);
  records.push_back(elsewhere);
  const auto groups = diagnose(records, {records[5].trial.id()});
  REQUIRE(groups.size() == 1);
  const auto* one = groups.front().measured({{2}});
  REQUIRE(one != nullptr);
  CHECK(one->wanted);
  CHECK(one->configuration.count() == 1);
  CHECK(one->demands->links[0].busy.mean_ns == Approx(12e6));
  CHECK_FALSE(groups.front().measured({{5}})->wanted);
  CHECK_FALSE(groups.front().all_wanted());
  CHECK(diagnose(records, {}).empty());
  CHECK(diagnose({}, {"0123456789abcdef"}).empty());
}
