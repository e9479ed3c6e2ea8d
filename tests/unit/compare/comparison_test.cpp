#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <random>

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
  CHECK(first.changes[0].verdict == Verdict::too_few);  // of 5 and 4, in three checks
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

TEST_CASE("a regression is a broken rule, and in a strict request an undecided one or what was not measured again") {
  auto asked = request({"throughput"}, {"throughput < -5%"});
  CHECK(comparison_of(repetitions(kBefore), repetitions(kSlower), asked).regression());
  CHECK_FALSE(comparison_of(repetitions(kBefore), repetitions(kAlike), asked).regression());
  const auto few = repetitions({10'000, 10'100, 10'200});
  CHECK_FALSE(comparison_of(few, few, asked).regression());
  CHECK(comparison_of(few, few, asked).count(Outcome::undecided) == 1);
  const auto two = repetitions(kBefore, 3) + repetitions(kBefore, 5);
  CHECK_FALSE(comparison_of(two, repetitions(kAlike), asked).regression());  // one was not measured again
  asked.strict = true;
  CHECK(comparison_of(two, repetitions(kAlike), asked).regression());
  CHECK_FALSE(comparison_of(repetitions(kAlike), two, asked).regression());
  CHECK(comparison_of(few, few, asked).regression());
  CHECK_FALSE(comparison_of(repetitions(kBefore), repetitions(kAlike), asked).regression());
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
  auto both = repetitions(kBefore, 3) + repetitions(kBefore, 5);
  auto half = both;
  put_side_by_side(both, half);
  for (std::size_t i = 5; i < half.size(); ++i) half[i] = make_failure(half[i].trial, "killed");
  const auto paired = comparison_of(both, half, asked);
  CHECK(paired.paired);
  CHECK(paired.configurations[1].changes[0].verdict == Verdict::lost);
  CHECK(paired.regression());
}

TEST_CASE("repetitions that were measured side by side are compared with each other, whatever drifts") {
  const std::vector<std::int64_t> drifting{10'000, 10'900, 12'000, 13'100, 14'000, 15'200, 16'000, 17'100};
  auto slower = drifting;
  for (auto& us : slower) us += us / 12;
  auto base = repetitions(drifting), now = repetitions(slower);
  const auto asked = request({"throughput"}, {"throughput < -5%"});
  CHECK_FALSE(comparison_of(base, now, asked).paired);
  CHECK_FALSE(comparison_of(base, now, asked).regression());
  put_side_by_side(base, now);
  std::reverse(now.begin(), now.end());  // in whatever order they stand in the file
  const auto comparison = comparison_of(base, now, asked);
  CHECK(comparison.paired);
  CHECK(comparison.regression());
  const auto& change = comparison.configurations[0].changes[0];
  CHECK(*change.ratio == Approx(12.0 / 13).epsilon(0.01));
  CHECK(change.interval->high < 1);
}

TEST_CASE("a repetition whose partner failed, or was measured again, counts on neither side") {
  auto base = repetitions(kEight), now = base;
  put_side_by_side(base, now);
  now[0] = make_failure(now[0].trial, "killed");
  now[1].provenance.side_by_side->pair = "another";
  const auto change = comparison_of(base, now, request({"throughput"})).configurations[0].changes[0];
  CHECK(change.base_count == 6);
  CHECK(change.new_count == 6);
  for (auto& record : now) record = make_failure(record.trial, "killed");
  now.back() = repetitions(kEight).back();
  now.back().provenance = base.back().provenance;
  CHECK(comparison_of(base, now, request({"throughput"})).configurations[0].changes[0].base_count == 1);
}

TEST_CASE("a configuration of which no repetition succeeded on both sides shows what each side has") {
  const std::vector<std::int64_t> four{10'000, 10'100, 10'200, 10'300};
  auto base = repetitions(four, 3) + repetitions(four, 5), now = base;
  put_side_by_side(base, now);
  for (std::size_t i = 0; i < 4; ++i) {
    auto& failing = i < 2 ? base[i] : now[i];
    const auto provenance = failing.provenance;
    failing = make_failure(failing.trial, "killed");
    failing.provenance = provenance;
  }
  const auto comparison = comparison_of(base, now, request({"throughput"}));
  CHECK(comparison.paired);
  const auto& change = comparison.configurations[0].changes[0];
  CHECK_FALSE(change.paired);
  CHECK(change.base_count == 2);
  CHECK(change.new_count == 2);
  CHECK(change.verdict == Verdict::too_few);
  CHECK(comparison.configurations[1].changes[0].base_count == 4);
}

TEST_CASE("what slows every configuration a little shows in all of them together, and in none alone") {
  // Five splits that scatter by 10 %, each in its own way, and are 6 % slower now.
  const std::vector<std::int64_t> scatter{0, 900, 200, 700, 500, 100};
  Records base, now;
  for (int split = 2; split < 7; ++split) {
    std::vector<std::int64_t> before, after;
    for (std::size_t i = 0; i < scatter.size(); ++i) {
      before.push_back(10'000 + scatter[(i + static_cast<std::size_t>(split)) % scatter.size()]);
      after.push_back((10'000 + scatter[(i * 5 + static_cast<std::size_t>(split)) % scatter.size()]) * 106 / 100);
    }
    base = base + repetitions(before, split);
    now = now + repetitions(after, split);
  }
  const auto comparison = comparison_of(base, now, request({"throughput"}, {"throughput < -5%"}));
  for (const auto& configuration : comparison.configurations) {
    CHECK(configuration.outcomes[0] != Outcome::broken);
  }
  REQUIRE(comparison.together[0].has_value());
  CHECK(comparison.together[0]->base_count == 6);
  CHECK(*comparison.together[0]->ratio == Approx(1 / 1.06).epsilon(0.005));
  CHECK(comparison.together_outcomes[0] == Outcome::broken);
  CHECK(comparison.count(Outcome::broken) == 1);
  CHECK(comparison.regression());
}

TEST_CASE("of forty equal sweeps that only chance parts, a rule fails at most two") {
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0, 0.1);
  const auto sweep = [&] {
    Records records;
    for (int split = 2; split < 7; ++split) {
      std::vector<std::int64_t> times;
      for (int i = 0; i < 5; ++i) times.push_back(static_cast<std::int64_t>(10'000 * std::exp(noise(random))));
      records = records + repetitions(times, split);
    }
    return records;
  };
  int failed = 0;
  for (int i = 0; i < 40; ++i) {
    const auto asked = request({"throughput", "latency_p50"}, {"throughput < 0%", "latency_p50 > 0%"});
    failed += comparison_of(sweep(), sweep(), asked).regression() ? 1 : 0;
  }
  CHECK(failed <= 2);
}

TEST_CASE(
    "all configurations together are only where a repetition has several, and all, of them, in numbers that are not "
    "0") {
  const auto base = repetitions(kBefore, 3) + repetitions({10'000, 10'001}, 5);
  const auto now = repetitions(kSlower, 3) + repetitions({10'000, 10'001}, 5);
  const auto comparison = comparison_of(base, now, request({"throughput"}));
  CHECK(comparison.together[0]->base_count == 2);
  CHECK(comparison.together[0]->verdict == Verdict::too_few);
  const auto one = [] { return comparison_of(repetitions(kBefore), repetitions(kAlike), request({"throughput"})); };
  CHECK_FALSE(one().together[0].has_value());
  CHECK(one().configurations[0].changes[0].interval == one().configurations[0].changes[0].interval);
  auto nothing = repetitions(kBefore, 3) + repetitions(kBefore, 5);
  for (auto& record : nothing) record.links[0].payload_bytes = 0;
  CHECK_FALSE(comparison_of(nothing, nothing, request({"payload"})).together[0].has_value());
}
