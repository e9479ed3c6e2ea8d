#include <paretopipe/run/adaptive_sweep.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <support/catch.hpp>

#include "evidence.hpp"

using namespace paretopipe;
using record::TrialRecord;
using namespace std::chrono_literals;

namespace {

/// Latency and throughput of a split's trial.
struct Numbers {
  double latency_ns;
  double throughput;
};

/// Answers every trial with made-up numbers, and counts the trials of each split.
class FakeExecutor final : public run::TrialExecutor {
 public:
  explicit FakeExecutor(std::function<Numbers(const experiment::Trial&)> numbers) : numbers_(std::move(numbers)) {}

  TrialRecord run(const experiment::Trial& trial) override {
    ++runs[trial.split_points.front()];
    const auto numbers = numbers_(trial);
    return testing::record_with(trial, numbers.latency_ns, numbers.throughput);
  }

  std::map<int, int> runs;

 private:
  std::function<Numbers(const experiment::Trial&)> numbers_;
};

std::vector<experiment::Trial> a_plan(const std::vector<int>& splits, int repetitions,
                                      const std::vector<std::string>& models = {"m"}) {
  std::vector<experiment::Trial> plan;
  for (const auto& model : models) {
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      for (const int split : splits) {
        plan.push_back(testing::make_trial(split, repetition));
        plan.back().model = model;
      }
    }
  }
  return plan;
}

/// Split 1 is on the frontier, 2 too, and 3 is beaten by far.
Numbers clear_cut(const experiment::Trial& trial) {
  static const std::map<int, Numbers> numbers{{1, {100, 50}}, {2, {200, 90}}, {3, {300, 20}}};
  return numbers.at(trial.split_points.front());
}

/// clear_cut's numbers, with twice the throughput in every other repetition if it `spreads`.
Numbers spread_if(bool spreads, const experiment::Trial& trial) {
  auto numbers = clear_cut(trial);
  if (spreads && trial.repetition % 2 != 0) numbers.throughput *= 2;
  return numbers;
}

struct AdaptiveRun {
  FakeExecutor executor;
  std::vector<TrialRecord> kept;
  run::AdaptiveOutcome outcome;

  /// Every trial takes `trial_takes`.
  AdaptiveRun(std::function<Numbers(const experiment::Trial&)> numbers, const std::vector<experiment::Trial>& plan,
              const experiment::Repeat& repeat, const std::vector<TrialRecord>& known = {},
              Nanoseconds trial_takes = {})
      : executor(std::move(numbers)) {
    run::Sweep sweep(
        executor, [this](const TrialRecord& record) { kept.push_back(record); }, {}, plan.size());
    const auto now = [&] { return Clock::time_point(static_cast<int>(kept.size()) * trial_takes); };
    outcome = run::run_adaptive_sweep(plan, known, sweep, repeat, now);
  }
};

const experiment::Repeat kAuto{.adaptive = true, .trials = 20};

}  // namespace

TEST_CASE("what is beaten by far is left after three repetitions, what is precise after five") {
  const AdaptiveRun sweep(clear_cut, a_plan({1, 2, 3}, 20), kAuto);
  CHECK(sweep.executor.runs == std::map<int, int>{{1, 5}, {2, 5}, {3, 3}});
  CHECK(sweep.outcome.settled == 2);
  CHECK(sweep.outcome.dominated == 1);
  CHECK(sweep.outcome.open == 0);
  CHECK(sweep.outcome.trials == 13);
  CHECK(sweep.outcome.planned == 60);
}

TEST_CASE("effort goes to the split whose numbers spread, until its trials are used up") {
  const auto spread = [](const auto& trial) { return spread_if(trial.split_points.front() == 2, trial); };
  const AdaptiveRun sweep(spread, a_plan({1, 2, 3}, 12), {.adaptive = true, .trials = 12});
  CHECK(sweep.executor.runs == std::map<int, int>{{1, 5}, {2, 12}, {3, 3}});
  CHECK(sweep.outcome.open == 1);
}

TEST_CASE("every record is kept, in the order of the plan's rounds") {
  const auto plan = a_plan({1, 2, 3}, 20);
  const AdaptiveRun sweep(clear_cut, plan, kAuto);
  REQUIRE(sweep.kept.size() == 13);
  for (std::size_t i = 0; i < 9; ++i) CHECK(sweep.kept[i].trial == plan[i]);
}

TEST_CASE("groups are judged apart: what a split is worth for one model says nothing of another") {
  const auto by_model = [](const experiment::Trial& trial) {
    return trial.model == "a" ? clear_cut(trial) : Numbers{100, 50};
  };
  const AdaptiveRun sweep(by_model, a_plan({1, 3}, 20, {"a", "b"}), kAuto);
  CHECK(sweep.executor.runs == std::map<int, int>{{1, 10}, {3, 3 + 5}});
}

TEST_CASE("records of an interrupted run are not measured again, and count for the verdicts") {
  const auto plan = a_plan({1, 2, 3}, 20);
  const AdaptiveRun whole(clear_cut, plan, kAuto);
  for (std::size_t interrupted_at = 0; interrupted_at <= whole.kept.size(); ++interrupted_at) {
    const std::vector<TrialRecord> known(whole.kept.begin(),
                                         whole.kept.begin() + static_cast<std::ptrdiff_t>(interrupted_at));
    const AdaptiveRun rest(clear_cut, plan, kAuto, known);
    CHECK(rest.kept.size() == whole.kept.size() - interrupted_at);
    CHECK(rest.outcome.settled == 2);
  }
}

TEST_CASE("when the budget is spent no further round begins, and what was not decided is said to be so") {
  // Two rounds of two trials take 8 s; a third would begin after the end.
  const AdaptiveRun sweep(clear_cut, a_plan({1, 2}, 20), {.adaptive = true, .trials = 20, .budget_s = 7}, {}, 2s);
  CHECK(sweep.executor.runs == std::map<int, int>{{1, 2}, {2, 2}});
  CHECK(sweep.outcome.open == 2);
}

TEST_CASE("the budget is shared out among the groups, and what one leaves over the next ones have") {
  // The first model settles within 10 trials of 1 s, less than its half of 60 s; the second never does and takes the
  // rest.
  const auto restless = [](const auto& trial) { return spread_if(trial.model == "b", trial); };
  const experiment::Repeat repeat{.adaptive = true, .trials = 50, .budget_s = 60};
  const AdaptiveRun sweep(restless, a_plan({1, 2}, 50, {"a", "b"}), repeat, {}, 1s);
  CHECK(sweep.kept.size() == 60);
  CHECK(sweep.outcome.settled == 2);
  CHECK(sweep.outcome.open == 2);
}

TEST_CASE("groups take turns, and one that is decided leaves the others theirs") {
  // Repetition by repetition through two batches, as plan_trials() has it; the larger one never settles.
  std::vector<experiment::Trial> plan;
  for (int repetition = 0; repetition < 8; ++repetition) {
    for (const int batch : {1, 2}) {
      for (const int split : {1, 2}) {
        plan.push_back(testing::make_trial(split, repetition));
        plan.back().batch = batch;
      }
    }
  }
  const auto restless = [](const auto& trial) { return spread_if(trial.batch == 2, trial); };
  const AdaptiveRun sweep(restless, plan, {.adaptive = true, .trials = 8});
  REQUIRE(sweep.kept.size() == 2 * 5 + 2 * 8);
  for (std::size_t i = 0; i < 20; ++i) CHECK(sweep.kept[i].trial == plan[i]);
  for (std::size_t i = 20; i < sweep.kept.size(); ++i) CHECK(sweep.kept[i].trial.batch == 2);
  CHECK(sweep.outcome.settled == 2);
  CHECK(sweep.outcome.open == 2);
  CHECK(sweep.outcome.planned == 32);
  // The budget is looked at before every round: three of two trials each.
  const AdaptiveRun brief(restless, plan, {.adaptive = true, .trials = 8, .budget_s = 11}, {}, 2s);
  CHECK(brief.kept.size() == 6);
}

TEST_CASE("a plan without trials ends at once") {
  const AdaptiveRun sweep(clear_cut, {}, {.adaptive = true, .trials = 20, .budget_s = 1});
  CHECK(sweep.kept.empty());
  CHECK(sweep.outcome.planned == 0);
}

TEST_CASE("each value of an axis is a group of its own: what is dominated at one is measured at the other") {
  auto plan = a_plan({1, 2, 3}, 6);
  auto cut = plan;
  const auto axis = GENERATE(&experiment::Trial::micro_batch, &experiment::Trial::batch, &experiment::Trial::depth,
                             &experiment::Trial::threads_per_stage);
  for (auto& trial : cut) trial.*axis = 2;
  plan.insert(plan.end(), cut.begin(), cut.end());
  const AdaptiveRun both(clear_cut, plan, {.adaptive = true, .trials = 6, .precision = 0.02});
  const AdaptiveRun one(clear_cut, cut, {.adaptive = true, .trials = 6, .precision = 0.02});
  CHECK(both.outcome.settled == 2 * one.outcome.settled);
  CHECK(both.outcome.dominated == 2 * one.outcome.dominated);
  CHECK(both.executor.runs.at(3) == 2 * one.executor.runs.at(3));
  CHECK(one.executor.runs.at(3) < 6);
}
