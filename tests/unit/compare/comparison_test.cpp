#include <paretopipe/core/error.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "sweeps.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using compare::Outcome;
using compare::Verdict;
using support::contains;

namespace {

std::string complaint_about(const Records& base, const Records& now) {
  return support::message_of<UsageError>([&] { comparison_of(base, now, request({"throughput"})); });
}

Records with_batch(Records records, int batch) {
  for (auto& record : records) record.trial.batch = batch;
  return records;
}

}  // namespace

TEST_CASE("configurations are paired by their trials, whatever the order and the number of repetitions") {
  const auto base = repetitions(kBefore, 3) + repetitions(kBefore, 7);
  auto now = repetitions(kSlower, 7) + repetitions(kAlike, 3);
  now.pop_back();
  const auto comparison = comparison_of(base, now, request({"throughput", "latency_p50"}));
  REQUIRE(comparison.configurations.size() == 2);
  const auto& first = comparison.configurations[0];
  CHECK(first.trial.split_points == std::vector{3});
  CHECK(first.base.ok == 5);
  CHECK(first.now.ok == 4);
  CHECK(first.changes[0].verdict == Verdict::no_change);
  const auto& second = comparison.configurations[1];
  CHECK(second.trial.split_points == std::vector{7});
  CHECK(second.changes[0].verdict == Verdict::worse);
  CHECK(second.changes[1].verdict == Verdict::worse);
  CHECK(comparison.only_base.empty());
  CHECK(comparison.only_new.empty());
  CHECK_FALSE(comparison.regression());  // nobody asked for a rule
}

TEST_CASE("what only one side has is named and judged by no rule") {
  const auto base = repetitions(kBefore, 3) + repetitions(kBefore, 5);
  const auto now = repetitions(kBefore, 3) + with_batch(repetitions(kSlower, 3), 16);
  const auto comparison = comparison_of(base, now, request({"throughput"}, {"throughput < -5%"}));
  CHECK(comparison.configurations.size() == 1);
  REQUIRE(comparison.only_base.size() == 1);
  CHECK(comparison.only_base[0].split_points == std::vector{5});
  REQUIRE(comparison.only_new.size() == 1);
  CHECK(comparison.only_new[0].batch == 16);
  CHECK(comparison.count(Outcome::held) == 1);
}

TEST_CASE("sides that share nothing are refused with what tells them apart") {
  const auto base = repetitions(kBefore);
  CHECK(contains(complaint_about(base, with_batch(base, 16)), "batch (8 and 16)"));
  CHECK(contains(complaint_about(base, repetitions(kBefore, 4)), "split (3 and 4)"));
  CHECK(contains(complaint_about(base, {}), "they have 1 and 0"));
  CHECK(contains(complaint_about({}, {}), "they have 0 and 0"));
  auto renamed = base;
  for (auto& record : renamed) record.trial.model = "\x1b[2J";
  CHECK_FALSE(contains(complaint_about(base, renamed), "\x1b"));
}

TEST_CASE("a regression is a broken rule, and in a strict request an undecided one") {
  auto asked = request({"throughput"}, {"throughput < -5%"});
  CHECK(comparison_of(repetitions(kBefore), repetitions(kSlower), asked).regression());
  CHECK_FALSE(comparison_of(repetitions(kBefore), repetitions(kAlike), asked).regression());
  const auto few = repetitions({10'000, 10'100, 10'200});
  CHECK_FALSE(comparison_of(few, few, asked).regression());
  CHECK(comparison_of(few, few, asked).count(Outcome::undecided) == 1);
  asked.strict = true;
  CHECK(comparison_of(few, few, asked).regression());
  CHECK_FALSE(comparison_of(repetitions(kBefore), repetitions(kAlike), asked).regression());
}

TEST_CASE("what was not measured again passes, but not a strict request") {
  const auto base = repetitions(kBefore, 3) + repetitions(kBefore, 5);
  const auto now = repetitions(kAlike, 3);
  auto asked = request({"throughput"}, {"throughput < -5%"});
  CHECK_FALSE(comparison_of(base, now, asked).regression());
  asked.strict = true;
  CHECK(comparison_of(base, now, asked).regression());
  CHECK_FALSE(comparison_of(now, base, asked).regression());
}

TEST_CASE("failed and invalid repetitions are counted and enter no median, and a split that only fails is lost") {
  auto now = repetitions(kAlike);
  now[0] = make_failure(make_trial(3, 0), "killed");
  now[1].status = record::Status::invalid;
  const auto asked = request({"throughput"}, {"throughput < -5%"});
  const auto partial = comparison_of(repetitions(kBefore), now, asked);
  CHECK(partial.configurations[0].now.ok == 3);
  CHECK(partial.configurations[0].now.failed == 1);
  CHECK(partial.configurations[0].now.invalid == 1);
  CHECK(partial.configurations[0].changes[0].new_count == 3);
  const Records failed{make_failure(make_trial(3, 0), "killed"), make_failure(make_trial(3, 1), "killed")};
  const auto lost = comparison_of(repetitions(kBefore), failed, asked);
  CHECK(lost.configurations[0].changes[0].verdict == Verdict::lost);
  CHECK(lost.regression());
  CHECK_FALSE(comparison_of(failed, failed, asked).regression());  // nothing was lost
}

TEST_CASE("the same records compare the same in every run") {
  const auto compared = [] {
    return comparison_of(repetitions(kBefore), repetitions(kAlike), request({"latency_p95"}));
  };
  CHECK(compared().configurations[0].changes[0].interval == compared().configurations[0].changes[0].interval);
}
