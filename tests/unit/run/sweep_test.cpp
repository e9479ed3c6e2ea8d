#include <paretopipe/core/error.hpp>
#include <paretopipe/run/sweep.hpp>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <support/catch.hpp>

#include "../stats/samples.hpp"

using namespace paretopipe;
using record::TrialRecord;
using run::remaining_trials;
using testing::make_failure;
using testing::make_trial;

namespace {

TrialRecord make_ok(const experiment::Trial& trial) {
  TrialRecord record;
  record.trial = trial;
  return record;
}

/// Does what it is told to for every trial, and takes no time.
class ScriptedExecutor final : public run::TrialExecutor {
 public:
  explicit ScriptedExecutor(std::function<TrialRecord(const experiment::Trial&)> action) : action_(std::move(action)) {}
  TrialRecord run(const experiment::Trial& trial) override { return action_(trial); }

 private:
  std::function<TrialRecord(const experiment::Trial&)> action_;
};

run::SweepCounts run_all(const std::vector<experiment::Trial>& trials, run::TrialExecutor& executor,
                         const run::Sweep::Keep& keep, const run::SweepObserver& observer, run::Repeats repeats = {}) {
  run::Sweep sweep(executor, keep, observer, trials.size(), repeats);
  for (const auto& trial : trials) sweep.run(trial);
  return sweep.counts();
}

std::vector<experiment::Trial> a_plan() {
  return {make_trial(3), make_trial(0), make_trial(10), make_trial(3, 1), make_trial(0, 1)};
}

std::vector<experiment::Trial> repetitions_of(int split, int count) {
  std::vector<experiment::Trial> trials;
  for (int i = 0; i < count; ++i) trials.push_back(make_trial(split, i));
  return trials;
}

std::string name(const experiment::Trial& trial) {
  return std::to_string(trial.split_points.front()) + "." + std::to_string(trial.repetition);
}

/// Everything that happens in a sweep, in its order.
class Log {
 public:
  run::SweepObserver observer() {
    return {[this](const auto& trial) { note("start", trial); },
            [this](const auto& record) { note("finish", record.trial); }};
  }
  std::function<void(const TrialRecord&)> keep() {
    return [this](const TrialRecord& record) { note("keep", record.trial); };
  }
  void note(const std::string& what, const experiment::Trial& trial) { events_ += what + " " + name(trial) + "; "; }
  const std::string& events() const { return events_; }

 private:
  std::string events_;
};

/// An ok record whose stage waited for the disk: a slow window.
TrialRecord make_slow(const experiment::Trial& trial) {
  auto record = make_ok(trial);
  record.stages.resize(1);
  record.stages[0].usage.major_page_faults = 1;
  return record;
}

/// Every run of a trial falls into a slow window.
struct SlowSweep {
  std::vector<TrialRecord> kept;
  ScriptedExecutor executor{make_slow};
  run::SweepCounts run(const std::vector<experiment::Trial>& trials, run::Repeats repeats) {
    return run_all(
        trials, executor, [this](const TrialRecord& record) { kept.push_back(record); }, {}, repeats);
  }
};

}  // namespace

TEST_CASE("trials run in the plan's order, and each record is kept before anything else happens") {
  Log log;
  ScriptedExecutor executor([&](const experiment::Trial& trial) {
    log.note("run", trial);
    return make_ok(trial);
  });
  const auto counts = run_all({make_trial(3), make_trial(0)}, executor, log.keep(), log.observer());
  CHECK(log.events() == "start 3.0; run 3.0; keep 3.0; finish 3.0; start 0.0; run 0.0; keep 0.0; finish 0.0; ");
  CHECK(counts.ok == 2);
  CHECK(counts.failed == 0);
}

TEST_CASE("a failed trial is kept like any other, and the sweep goes on") {
  std::vector<TrialRecord> kept;
  ScriptedExecutor executor([](const experiment::Trial& trial) {
    return trial.repetition == 0 ? make_failure(trial, "killed") : make_ok(trial);
  });
  const auto counts = run_all(a_plan(), executor, [&](const TrialRecord& record) { kept.push_back(record); }, {});
  CHECK(counts.ok == 2);
  CHECK(counts.failed == 3);
  REQUIRE(kept.size() == 5);
  CHECK(kept.front().failure->reason == "killed");
}

TEST_CASE("no trials are no error") {
  ScriptedExecutor executor(make_ok);
  const auto counts = run_all({}, executor, [](const TrialRecord&) {}, {});
  CHECK(counts.ok + counts.failed == 0);
}

TEST_CASE("an interruption ends the sweep, what was kept stays kept, and the trial under way leaves nothing") {
  Log log;
  int runs = 0;
  ScriptedExecutor executor([&](const experiment::Trial& trial) {
    if (++runs == 2) throw Interrupted();
    return make_ok(trial);
  });
  CHECK_THROWS_AS(run_all(a_plan(), executor, log.keep(), log.observer()), Interrupted);
  CHECK(log.events() == "start 3.0; keep 3.0; finish 3.0; start 0.0; ");
}

TEST_CASE("a record that cannot be kept ends the sweep: nobody measures for nothing") {
  int runs = 0;
  ScriptedExecutor executor([&](const experiment::Trial& trial) {
    ++runs;
    return make_ok(trial);
  });
  const auto full = [](const TrialRecord&) { throw EnvironmentError("No space left on device"); };
  CHECK_THROWS_AS(run_all(a_plan(), executor, full, {}), EnvironmentError);
  CHECK(runs == 1);
}

TEST_CASE("trials with an ok record are done, failed ones are tried again, and the order stays") {
  const auto plan = a_plan();
  CHECK(remaining_trials(plan, {}) == plan);
  const auto remaining = remaining_trials(
      plan, {make_ok(plan[3]), make_failure(plan[1], "killed"), make_ok(make_trial(7)), make_ok(plan[0])});
  CHECK(remaining == std::vector{plan[1], plan[2], plan[4]});
}

TEST_CASE("a record of the same split but other settings is not a record of this trial") {
  auto other = make_trial(3);
  other.seed = 2;
  CHECK(remaining_trials({make_trial(3)}, {make_ok(other)}).size() == 1);
}

TEST_CASE("a sweep that is interrupted anywhere and resumed measures every trial once") {
  for (int interrupted_at = 1; interrupted_at <= 6; ++interrupted_at) {
    std::vector<TrialRecord> kept;
    int runs = 0;
    ScriptedExecutor executor([&](const experiment::Trial& trial) {
      if (++runs == interrupted_at) throw Interrupted();
      return make_ok(trial);
    });
    const auto keep = [&](const TrialRecord& record) { kept.push_back(record); };
    for (int attempt = 0; attempt < 2; ++attempt) {
      try {
        run_all(remaining_trials(a_plan(), kept), executor, keep, {});
      } catch (const Interrupted&) {
      }
    }
    std::vector<experiment::Trial> measured;
    for (const auto& record : kept) measured.push_back(record.trial);
    CHECK(measured == a_plan());
  }
}

TEST_CASE("a trial that fell into a slow window is kept as invalid and measured again") {
  int runs = 0;
  ScriptedExecutor executor(
      [&](const experiment::Trial& trial) { return ++runs == 1 ? make_slow(trial) : make_ok(trial); });
  Log log;
  std::vector<TrialRecord> kept;
  const auto keep = [&](const TrialRecord& record) { kept.push_back(record); };
  const auto counts = run_all({make_trial(3)}, executor, keep, log.observer());
  CHECK(log.events() == "start 3.0; finish 3.0; ");
  CHECK(counts.repeated == 1);
  CHECK(counts.disturbed == 0);
  CHECK(counts.ok == 1);
  CHECK(counts.failed == 0);
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].status == record::Status::invalid);
  CHECK(kept[0].failure->phase == "conditions");
  CHECK(kept[0].failure->reason == "measured in a slow window, and again: stage 0 waited once for pages from disk");
  CHECK(kept[1].status == record::Status::ok);
}

TEST_CASE("a machine that stays slow is believed after as many repeats as were asked for") {
  SlowSweep sweep;
  const auto counts = sweep.run({make_trial(3)}, {.per_trial = 3});
  CHECK(sweep.kept.size() == 4);
  CHECK(sweep.kept.back().status == record::Status::ok);
  CHECK(counts.repeated == 3);
  CHECK(counts.disturbed == 1);
  CHECK(counts.ok == 1);
}

TEST_CASE("without repeats everything is believed at once") {
  SlowSweep sweep;
  const auto counts = sweep.run({make_trial(3), make_trial(0)}, {.per_trial = 0});
  CHECK(sweep.kept.size() == 2);
  CHECK(counts.disturbed == 2);
  CHECK(counts.ok == 2);
}

TEST_CASE("repeats are bounded by a share of the whole sweep, or a machine that is always busy would triple it") {
  SlowSweep sweep;
  const auto counts = sweep.run(repetitions_of(3, 20), {.per_trial = 2, .share = 0.2});
  CHECK(counts.repeated == 4);
  CHECK(counts.ok == 20);
  CHECK(sweep.kept.size() == 24);
}

TEST_CASE("a sweep killed before the second measurement measures the trial again when it is resumed") {
  auto not_believed = make_slow(make_trial(3));
  not_believed.status = record::Status::invalid;
  CHECK(remaining_trials({make_trial(3)}, {not_believed}).size() == 1);
}

TEST_CASE("trials that settled late, hold outliers or have a stage that slowed down are counted") {
  ScriptedExecutor executor([](const experiment::Trial& trial) {
    auto record = make_ok(trial);
    record.single_stream.emplace().warmup = trial.warmup;
    record.offline.emplace().warmup = trial.warmup + trial.repetition;
    if (trial.repetition == 0) record.outliers = record::Outliers{{}, {5}};
    if (trial.repetition == 1) record.slow_downs = {{true, 1, 20, 1e6, 2e6}};
    return record;
  });
  const auto counts = run_all(a_plan(), executor, [](const TrialRecord&) {}, {});
  CHECK(counts.settled_late == 2);
  CHECK(counts.with_outliers == 3);
  CHECK(counts.slowed_down == 2);
}

TEST_CASE("a trial that did not keep up, and a search that found no rate, are counted apart") {
  ScriptedExecutor executor([](const experiment::Trial& trial) {
    auto record = make_ok(trial);
    if (trial.repetition == 0 && trial.split_points.front() == 3) return record;
    record.server.emplace();
    record.server->runs.resize(1);
    record.server->runs.front().summary.saturated = trial.split_points.front() == 3;
    if (trial.split_points.front() == 0) record.server->max_rate.emplace();
    if (trial.split_points.front() == 10) record.server->max_rate = record::MaxRate{7, 8};
    return record;
  });
  const auto counts = run_all(a_plan(), executor, [](const auto&) {}, {});
  CHECK(counts.ok == 5);
  CHECK(counts.saturated == 1);
  CHECK(counts.without_rate == 2);
}

namespace {

/// Two stage programs that are measured in turns, and what was kept of each.
struct TwoSides {
  explicit TwoSides(std::function<TrialRecord(const experiment::Trial&)> action)
      : own(action), other(std::move(action)) {}

  std::vector<run::SweepSide> sides() {
    return {{own, [this](const auto& record) { keep(0, record); }},
            {other, [this](const auto& record) { keep(1, record); }}};
  }
  void keep(std::size_t side, const TrialRecord& record) {
    kept[side].push_back(record);
    order += std::to_string(side);
  }

  ScriptedExecutor own, other;
  std::vector<TrialRecord> kept[2];
  std::string order;
};

}  // namespace

TEST_CASE("two sides run every trial right after each other, and take turns to begin") {
  TwoSides two(make_ok);
  run::Sweep sweep(two.sides(), {}, 4);
  for (const auto& trial : repetitions_of(3, 4)) sweep.run(trial);
  CHECK((two.order == "01100110" || two.order == "10011001"));
  CHECK(sweep.counts().ok == 8);
  std::set<std::string> pairs;
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(record::side_by_side(two.kept[0][i], two.kept[1][i]));
    CHECK(two.kept[0][i].provenance.side_by_side->turn + two.kept[1][i].provenance.side_by_side->turn == 1);
    pairs.insert(two.kept[0][i].provenance.side_by_side->pair);
  }
  CHECK(pairs.size() == 4);
}

TEST_CASE("of many splits either side begins about half in every repetition") {
  TwoSides two(make_ok);
  run::Sweep sweep(two.sides(), {}, 40);
  for (int split = 0; split < 40; ++split) sweep.run(make_trial(split % 11, split / 11));
  int own_first = 0;
  for (const auto& record : two.kept[0]) own_first += record.provenance.side_by_side->turn == 0 ? 1 : 0;
  CHECK(own_first > 10);
  CHECK(own_first < 30);
}

TEST_CASE("a slow window of either side has both measured again, and what is kept last belongs together") {
  int runs = 0;
  TwoSides two([&](const experiment::Trial& trial) { return ++runs == 2 ? make_slow(trial) : make_ok(trial); });
  run::Sweep sweep(two.sides(), {}, 1);
  sweep.run(make_trial(3));
  CHECK(runs == 4);
  CHECK(sweep.counts().repeated == 1);
  CHECK(sweep.counts().ok == 2);
  CHECK(record::side_by_side(two.kept[0].back(), two.kept[1].back()));
  CHECK_FALSE(record::side_by_side(two.kept[0].front(), two.kept[1].back()));
}

TEST_CASE("a sweep of two sides that is interrupted anywhere and resumed has a partner for every record") {
  const auto plan = repetitions_of(3, 3);
  for (int interrupted_at = 1; interrupted_at <= 6; ++interrupted_at) {
    int runs = 0;
    TwoSides two([&](const experiment::Trial& trial) {
      if (++runs == interrupted_at) throw Interrupted();
      return make_ok(trial);
    });
    for (int attempt = 0; attempt < 2; ++attempt) {
      run::Sweep sweep(two.sides(), {}, plan.size());
      try {
        const auto known = run::with_partner(two.kept[0], two.kept[1]);
        for (const auto& trial : remaining_trials(plan, known)) sweep.run(trial);
      } catch (const Interrupted&) {
      }
    }
    CAPTURE(interrupted_at, two.order);
    CHECK(run::with_partner(two.kept[0], two.kept[1]).size() == 3);
    CHECK(run::with_partner(two.kept[1], two.kept[0]).size() == 3);
    CHECK(two.kept[0].size() + two.kept[1].size() <= 7);  // no more than the half of one pair was measured twice
  }
}

TEST_CASE("a record whose partner failed, or that has none, is measured again with it") {
  auto own = make_ok(make_trial(3)), other = make_ok(make_trial(3));
  CHECK(run::with_partner({own}, {other}).empty());
  own.provenance.side_by_side = record::SideBySide{"a", 0};
  other.provenance.side_by_side = record::SideBySide{"a", 1};
  CHECK(run::with_partner({own}, {other}).size() == 1);
  other = make_failure(make_trial(3), "killed");
  other.provenance.side_by_side = record::SideBySide{"a", 1};
  CHECK(run::with_partner({own}, {other}).empty());
}
