#include <paretopipe/core/error.hpp>
#include <paretopipe/run/guided_sweep.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <utility>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "../predict/profiles.hpp"
#include "evidence.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using record::TrialRecord;
using support::contains;

namespace {

constexpr int kGuidedBlocks = 12;

std::vector<experiment::Trial> plan_of_every_split(int repetitions, int blocks = kGuidedBlocks) {
  std::vector<experiment::Trial> plan;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (int split = 0; split <= blocks; ++split) {
      experiment::Trial trial;
      trial.model = "m";
      trial.batch = 2;
      trial.block_count = blocks;
      trial.split_points = {split};
      trial.depth = 100;
      trial.repetition = repetition;
      plan.push_back(trial);
    }
  }
  return plan;
}

/// Two devices; the second one is three times as fast.
std::vector<predict::Profile> guiding_profiles() {
  return {a_profile({std::vector<int>(kGuidedBlocks, 30), std::vector<int>(kGuidedBlocks, 10)})};
}

/// Answers with what was predicted, changed by `change`, and counts the trials of each split.
class PredictedExecutor final : public run::TrialExecutor {
 public:
  using Change = std::function<void(TrialRecord&)>;
  PredictedExecutor(predict::Question question, Change change)
      : question_(std::move(question)), change_(std::move(change)) {}

  TrialRecord run(const experiment::Trial& trial) override {
    ++runs[trial.split_points.front()];
    const auto predicted = predict::predict_splits(question_, {trial.cut()}).front();
    auto record = record_with(trial, predicted.latency_ns.value, predicted.throughput_image_per_s.value);
    change_(record);
    return record;
  }

  std::map<int, int> runs;

 private:
  predict::Question question_;
  Change change_;
};

/// What a sweep is guided by beside the true profiles: others that are believed instead, if there are any.
struct Guide {
  std::vector<predict::Profile> believed{};
  run::ProfileAgain again{};
  double within = run::kNearTie;
};

struct GuidedRun {
  std::vector<predict::Profile> profiles;
  std::vector<experiment::Trial> plan;
  predict::Question question;
  PredictedExecutor executor;
  std::vector<TrialRecord> kept;
  run::GuidedOutcome outcome;

  explicit GuidedRun(PredictedExecutor::Change change, const Guide& guide = {},
                     const std::vector<TrialRecord>& known = {},
                     std::vector<predict::Profile> true_profiles = guiding_profiles())
      : profiles(std::move(true_profiles)),
        plan(plan_of_every_split(3, profiles.front().model.block_count())),
        question(run::guiding_question(profiles, plan)),
        executor(question, std::move(change)) {
    run::Sweep sweep(
        executor, [this](const TrialRecord& record) { kept.push_back(record); }, {}, plan.size());
    auto asked = question;
    if (!guide.believed.empty()) asked.profiles = guide.believed;
    outcome = run::run_guided_sweep(plan, known, sweep, {asked, guide.within, guide.again});
  }

  bool measured(const predict::PredictedSplit& split) const {
    const auto points = split.split_points();
    return executor.runs.contains(points.empty() ? question.profiles.front().model.block_count() : points.front());
  }

  /// True if one that was measured is as good in both numbers, but for a near tie.
  bool covers(const TrialRecord& other) const {
    return std::any_of(kept.begin(), kept.end(), [&](const TrialRecord& one) {
      return one.summary->latency->p50_ns <= other.summary->latency->p50_ns * (1 + outcome.within) &&
             *one.summary->throughput_image_per_s * (1 + outcome.within) >= other.summary->throughput_image_per_s;
    });
  }
};

/// A number from 0 to 1 that depends on the split alone, or on its repetition too.
double drawn_for(const experiment::Trial& trial, std::uint64_t seed, bool each_repetition) {
  std::mt19937_64 random(seed * 1000 + static_cast<std::uint64_t>(trial.split_points.front()) * 10 +
                         static_cast<std::uint64_t>(each_repetition ? trial.repetition : 9));
  return std::uniform_real_distribution<double>()(random);
}

}  // namespace

TEST_CASE("a guided sweep measures not splitting, what makes every other split needless, and two splits as a check") {
  GuidedRun sweep([](auto&) {});
  const auto whole = predict::predict_splits(sweep.question, {{{kGuidedBlocks}}}).front();
  const auto halves = predict::predict_splits(sweep.question, {{{kGuidedBlocks / 2}}}).front();
  REQUIRE(whole.latency_ns.value > 1.2 * halves.latency_ns.value);
  CHECK(sweep.executor.runs.contains(kGuidedBlocks));
  CHECK(sweep.executor.runs.size() >= 3);
  CHECK(sweep.executor.runs.size() < 8);
  CHECK(sweep.outcome.splits == 13);
  CHECK(sweep.outcome.measured == static_cast<int>(sweep.executor.runs.size()));
  CHECK(sweep.outcome.margins == predict::Margins{run::kLeastMargin, run::kLeastMargin});
  CHECK(sweep.outcome.worst_error == Approx(0).margin(1e-9));
  for (const auto& trial : sweep.plan) CHECK(sweep.covers(sweep.executor.run(trial)));
}

TEST_CASE("without near ties a guided sweep measures the whole predicted frontier") {
  const GuidedRun sweep([](auto&) {}, {.within = 0});
  for (const auto& split : predict::predict(sweep.question).frontier) CHECK(sweep.measured(split));
}

TEST_CASE(
    "without near ties splits that no other beats are measured in every repetition, and those that one beats are not") {
  const GuidedRun sweep([](auto&) {}, {.within = 0});
  std::map<int, std::pair<double, double>> speeds;
  for (const auto& record : sweep.kept) {
    speeds[record.trial.split_points.front()] = {record.summary->latency->p50_ns,
                                                 -*record.summary->throughput_image_per_s};
  }
  int cut_short = 0;
  for (const auto& [split, speed] : speeds) {
    const bool beaten = std::any_of(speeds.begin(), speeds.end(), [&, &own = speed](const auto& other) {
      return other.second.first <= own.first && other.second.second <= own.second && other.second != own;
    });
    CAPTURE(split);
    CHECK(sweep.executor.runs.at(split) == (beaten ? 1 : 3));
    cut_short += beaten ? 1 : 0;
  }
  CHECK(cut_short > 0);
  CHECK(sweep.outcome.cut_short == cut_short);
}

TEST_CASE("of measured near ties one is measured in every repetition, and each other split is no better but for that") {
  // Six pairs of blocks: the second cut of each pair has nearly the times of the first one.
  std::vector<int> block_ms;
  for (int pair = 0; pair < 6; ++pair) block_ms.insert(block_ms.end(), {100, 1});
  GuidedRun sweep([](auto&) {}, {.within = 0.05}, {}, {a_profile({block_ms, block_ms})});
  REQUIRE(sweep.outcome.cut_short > 0);
  std::vector<TrialRecord> repeated;
  std::copy_if(sweep.kept.begin(), sweep.kept.end(), std::back_inserter(repeated),
               [](const auto& record) { return record.trial.repetition == 2; });
  CHECK(sweep.kept.size() == 3 * repeated.size() + static_cast<std::size_t>(sweep.outcome.cut_short));
  const auto measured = std::exchange(sweep.kept, repeated);
  for (const auto& record : measured) CHECK(sweep.covers(record));
  std::size_t unbeaten = 0;
  for (const auto& one : measured) {
    const bool beaten = std::any_of(measured.begin(), measured.end(), [&own = *one.summary](const auto& other) {
      return (other.summary->latency->p50_ns < own.latency->p50_ns) &&
             (other.summary->throughput_image_per_s > own.throughput_image_per_s);
    });
    unbeaten += one.trial.repetition == 0 && !beaten ? 1 : 0;
  }
  CHECK(repeated.size() < unbeaten);
}

TEST_CASE("where most cuts are near ties fewer than a third of all trials are run, though results scatter") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const GuidedRun sweep(
        [&](TrialRecord& record) {
          record.summary->latency->p50_ns *= 1 + 0.02 * drawn_for(record.trial, seed, true);
          *record.summary->throughput_image_per_s /= 1 + 0.02 * drawn_for(record.trial, seed + 100, true);
        },
        {}, {}, {a_profile({std::vector<int>(20, 10), std::vector<int>(20, 10)})});
    CAPTURE(seed, sweep.executor.runs.size());
    CHECK(sweep.kept.size() < sweep.plan.size() / 3);
  }
}

TEST_CASE(
    "no split that was left out is better than a measured one, unless its prediction was off by more than stated") {
  int kept_promises = 0, left_out = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::vector<int>> block_ms(2, std::vector<int>(kGuidedBlocks));
    for (auto& device : block_ms) {
      for (auto& ms : device) ms = 1 + static_cast<int>(random() % 30);
    }
    // Each split is faster or slower than predicted by up to 8 %, in every repetition alike.
    GuidedRun sweep(
        [&](TrialRecord& record) {
          record.summary->latency->p50_ns *= 0.92 + 0.16 * drawn_for(record.trial, seed, false);
          *record.summary->throughput_image_per_s *= 0.92 + 0.16 * drawn_for(record.trial, seed + 100, false);
        },
        {}, {}, {a_profile(block_ms)});
    auto question = sweep.question;
    question.corrections = sweep.outcome.corrections;
    for (int split = 0; split <= kGuidedBlocks; ++split) {
      if (sweep.executor.runs.contains(split)) continue;
      const auto& trial = sweep.plan[static_cast<std::size_t>(split)];
      const auto predicted = predict::predict_splits(question, {trial.cut()}).front();
      const auto truth = sweep.executor.run(trial);
      const bool as_stated =
          predicted.latency_ns.value <= truth.summary->latency->p50_ns * (1 + sweep.outcome.margins->latency) &&
          *truth.summary->throughput_image_per_s <=
              predicted.throughput_image_per_s.value * (1 + sweep.outcome.margins->throughput);
      CAPTURE(seed, split);
      CHECK((!as_stated || sweep.covers(truth)));
      kept_promises += as_stated ? 1 : 0;
      ++left_out;
      sweep.executor.runs.erase(split);
    }
  }
  CHECK(left_out > 100);
  CHECK(kept_promises > left_out * 9 / 10);
}

TEST_CASE("what a pipeline adds to all splits alike is fitted, and predictions that stray widen the margin") {
  const GuidedRun exact([](auto&) {});
  const GuidedRun slower([](TrialRecord& record) { record.summary->latency->p50_ns *= 1.2; });
  CHECK(slower.outcome.corrections.idle_pace > 1.1);
  CHECK(slower.outcome.worst_error < 0.05);
  CHECK_FALSE(slower.outcome.remade.has_value());
  const int third = std::next(exact.executor.runs.begin(), 2)->first;
  const GuidedRun straying([=](TrialRecord& record) {
    if (record.trial.split_points.front() == third) record.summary->latency->p50_ns /= 1.4;
  });
  CHECK(straying.outcome.margins.value().latency > 0.1);
  CHECK(straying.outcome.margins.value().throughput < 0.1);
}

TEST_CASE("predictions that are off by more leave fewer splits out") {
  const auto splits_measured = [](double scatter) {
    std::size_t sum = 0;
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      const GuidedRun sweep(
          [&](TrialRecord& record) {
            record.summary->latency->p50_ns *= 1 + scatter * (drawn_for(record.trial, seed, false) - 0.5);
          },
          {}, {}, {a_profile({std::vector<int>(20, 10), std::vector<int>(20, 10)})});
      sum += sweep.executor.runs.size();
    }
    return sum;
  };
  CHECK(splits_measured(0) < splits_measured(0.1));
  CHECK(splits_measured(0.1) < splits_measured(0.3));
}

TEST_CASE("a profile that is deliberately wrong is found by what was measured, reported, and made again, once") {
  auto wrong = guiding_profiles();
  for (auto& run : wrong.front().devices.back().runs) {  // as if the second device were ten times as slow
    for (auto& ns : run.compute_ns) ns *= 10;
  }
  wrong.front().made_at = "2020-01-02T03:04:05Z";
  int made = 0;
  const auto again = [&] {
    ++made;
    return guiding_profiles();
  };
  GuidedRun sweep([](auto&) {}, {wrong, again});
  CHECK(made == 1);
  REQUIRE(sweep.outcome.remade.has_value());
  CHECK(sweep.outcome.remade->made_at == "2020-01-02T03:04:05Z");
  CHECK(sweep.outcome.remade->median_error > run::kWrongProfile);
  for (const auto& trial : sweep.plan) CHECK(sweep.covers(sweep.executor.run(trial)));
  CHECK(sweep.outcome.worst_error < 0.05);

  // Where nobody can make it again, the margin grows until the frontier is found all the same.
  GuidedRun alone([](auto&) {}, {wrong});
  CHECK_FALSE(alone.outcome.remade.has_value());
  for (const auto& trial : alone.plan) CHECK(alone.covers(alone.executor.run(trial)));
}

TEST_CASE("what was measured before is not measured again, and failed trials end in no claim") {
  const GuidedRun first([](auto&) {});
  const GuidedRun again([](auto&) {}, {}, first.kept);
  CHECK(again.executor.runs.empty());
  CHECK(again.outcome.measured == first.outcome.measured);
  const GuidedRun failing([](TrialRecord& record) {
    record.status = record::Status::failed;
    record.summary.reset();
  });
  CHECK_FALSE(failing.outcome.margins.has_value());
  CHECK(failing.outcome.without_result == failing.outcome.measured);
  CHECK(first.outcome.without_result == 0);
  CHECK_FALSE(failing.executor.runs.empty());
}

TEST_CASE("what was measured under other settings is no result of a guided sweep") {
  const GuidedRun first([](auto&) {});
  std::vector<TrialRecord> others;
  for (auto trial : first.plan) {
    trial.threads_per_stage = 2;
    others.push_back(record_with(trial, 1, 1e9));  // unbeatable
  }
  const GuidedRun beside([](auto&) {}, {}, others);
  CHECK(beside.executor.runs == first.executor.runs);
  CHECK(beside.outcome.measured == first.outcome.measured);
  CHECK(beside.outcome.worst_error == first.outcome.worst_error);
}

TEST_CASE("splits and codecs are chosen together, and a codec that nothing was profiled with is refused") {
  auto profiles = guiding_profiles();
  auto plan = plan_of_every_split(1);
  for (const auto& trial : plan_of_every_split(1)) {
    if (trial.all_local()) continue;
    plan.push_back(trial);
    plan.back().codec = "uniform8";
  }
  const auto refusal = [&] { return support::message_of<UsageError>([&] { run::guiding_question(profiles, plan); }); };
  CHECK(contains(refusal(), "paretopipe profile --codec uniform8"));
  add_codec(profiles.front(), "uniform8", 4, {1}, {1});
  const auto question = run::guiding_question(profiles, plan);
  PredictedExecutor executor(question, [](auto&) {});
  std::vector<TrialRecord> kept;
  run::Sweep sweep(
      executor, [&](const TrialRecord& record) { kept.push_back(record); }, {}, plan.size());
  const auto outcome = run::run_guided_sweep(plan, {}, sweep, {question, 0});
  CHECK(outcome.splits == 2 * kGuidedBlocks + 1);
  CHECK(outcome.measured == static_cast<int>(kept.size()));
  CHECK(outcome.measured < outcome.splits);
  CHECK(outcome.worst_error == Approx(0).margin(1e-9));
  for (const auto& split : predict::predict(question).frontier) {
    const auto is_it = [&](const auto& record) {
      return record.trial.codec == split.codec &&
             (split.all_local() ? record.trial.all_local() : record.trial.split_points == split.split_points());
    };
    CHECK(std::any_of(kept.begin(), kept.end(), is_it));
  }
  plan.back().codec = "none/uniform8";
  CHECK(contains(refusal(), "codecs of each cut"));
}

TEST_CASE("a plan of several conditions, or of another model than the profile's, cannot be guided") {
  const auto refusal = [](const auto& change) {
    auto plan = plan_of_every_split(1);
    change(plan);
    return support::message_of<UsageError>([&] { run::guiding_question(guiding_profiles(), plan); });
  };
  CHECK(refusal([](auto&) {}) == "(nothing was thrown)");
  CHECK(contains(refusal([](auto& plan) { plan.back().depth = 3; }), "one set of conditions"));
  CHECK(contains(refusal([](auto& plan) { plan.back().data_parallel = 2; }), "one set of conditions"));
  const auto all = [](auto change) {
    return [change](auto& plan) {
      for (auto& trial : plan) change(trial);
    };
  };
  CHECK(contains(refusal(all([](auto& trial) { trial.micro_batch = 1; })), "one set of conditions"));
  CHECK(contains(refusal(all([](auto& trial) { trial.phases = experiment::Phases::offline; })), "both phases"));
  CHECK(contains(refusal(all([](auto& trial) { trial.model = "n"; })), "the sweep of n"));
  CHECK(contains(refusal(all([](auto& trial) { trial.batch = 4; })), "at batch 4"));
}
