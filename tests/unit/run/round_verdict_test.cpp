#include <paretopipe/run/adaptive_sweep.hpp>

#include <algorithm>
#include <vector>

#include <support/catch.hpp>

#include "evidence.hpp"

using namespace paretopipe;
using run::Verdict;
using SplitVerdicts = std::map<int, Verdict>;  // by the only split point

namespace {

constexpr double kPrecision = 0.02;

/// The n-th repetition of a split, with the two numbers that decide.
record::TrialRecord measured(int split, int repetition, double latency_ns, double throughput) {
  return testing::record_with(testing::make_trial(split, repetition), latency_ns, throughput);
}

/// Repetitions of a split whose numbers lie within `spread` (as a share) around their middle.
struct Repetitions {
  int split;
  int count;
  double latency_ns;
  double throughput;
  double spread;
};

std::vector<record::TrialRecord> group_of(const std::vector<Repetitions>& splits) {
  std::vector<record::TrialRecord> group;
  for (const auto& split : splits) {
    for (int i = 0; i < split.count; ++i) {
      const double off = split.count > 1 ? split.spread * (2.0 * i / (split.count - 1) - 1) : 0;
      group.push_back(measured(split.split, i, split.latency_ns * (1 + off), split.throughput * (1 - off)));
    }
  }
  return group;
}

SplitVerdicts judge(const std::vector<record::TrialRecord>& group) {
  SplitVerdicts verdicts;
  for (const auto& [cut, verdict] : run::judge_round(group, kPrecision, 1))
    verdicts[cut.split_points.front()] = verdict;
  return verdicts;
}

SplitVerdicts judge(const std::vector<Repetitions>& splits) {
  return judge(group_of(splits));
}

}  // namespace

TEST_CASE("a split that is worse in both by far is dropped after three repetitions") {
  CHECK(judge({{1, 3, 100, 50, 0.01}, {2, 3, 200, 25, 0.01}}) ==
        SplitVerdicts{{1, Verdict::open}, {2, Verdict::dominated}});
}

TEST_CASE("nothing is dropped before three repetitions, nor settled before five") {
  CHECK(judge({{1, 4, 100, 50, 0.0}, {2, 2, 200, 25, 0.0}, {3, 5, 100, 50, 0.0}}) ==
        SplitVerdicts{{1, Verdict::open}, {2, Verdict::open}, {3, Verdict::settled}});
}

TEST_CASE("a split with too few repetitions cannot drop another") {
  CHECK(judge({{1, 2, 100, 50, 0.0}, {2, 5, 200, 25, 0.3}}).at(2) == Verdict::open);
}

TEST_CASE("a split that is better in one objective is on the frontier, and stays") {
  CHECK(judge({{1, 3, 100, 50, 0.01}, {2, 3, 200, 75, 0.01}}).at(2) == Verdict::open);
}

TEST_CASE("a split that is worse by less than the precision is not dropped") {
  CHECK(judge({{1, 5, 100, 50, 0.001}, {2, 5, 101, 49.5, 0.001}}).at(2) == Verdict::settled);
}

TEST_CASE("a split whose repetitions reach into the frontier is not dropped, and more are asked for") {
  CHECK(judge({{1, 5, 100, 50, 0.01}, {2, 5, 120, 42, 0.4}}).at(2) == Verdict::open);
}

TEST_CASE("both objectives must be as narrow as asked for before a split is settled") {
  std::vector<record::TrialRecord> group;
  for (int i = 0; i < 5; ++i) group.push_back(measured(1, i, 100, 50 * (1 + 0.05 * i)));
  CHECK(judge(group).at(1) == Verdict::open);
}

TEST_CASE("data parallelism, which is no split, drops none, and is measured until it is known") {
  auto group = group_of({{1, 6, 100, 100, 0.001}, {2, 6, 10, 1000, 0.001}});
  for (auto& record : group) {
    if (record.trial.split_points.front() == 1) continue;
    record.trial.split_points.clear();
    record.trial.data_parallel = 2;
  }
  const auto verdicts = run::judge_round(group, kPrecision, 1);
  CHECK(verdicts.at({{1}}) == Verdict::settled);
  CHECK(verdicts.at({{}}) == Verdict::settled);
}

TEST_CASE("trials of one phase are judged by its number and the payload: what carries less is not dropped") {
  const bool offline = GENERATE(true, false);
  auto group = group_of({{1, 5, 100, 50, 0.01}, {2, 5, 200, 25, 0.01}, {3, 5, 210, 24, 0.01}});
  for (auto& record : group) {
    const auto split = record.trial.split_points.front();
    record.links = {{0, 1, split == 2 ? 500 : 1000, 64}, {1, 0, 320, 64}};
    record.trial.phases = offline ? experiment::Phases::offline : experiment::Phases::single_stream;
    if (offline) {
      record.summary->latency.reset();
    } else {
      record.summary->throughput_image_per_s.reset();
    }
  }
  // 3 carries as much as 1 and is slower; 2 is slower, too, and carries half of it.
  CHECK(judge(group) == SplitVerdicts{{1, Verdict::settled}, {2, Verdict::settled}, {3, Verdict::dominated}});
}

TEST_CASE("two equal splits do not drop each other") {
  CHECK(judge({{1, 5, 100, 50, 0.0}, {2, 5, 100, 50, 0.0}}) ==
        SplitVerdicts{{1, Verdict::settled}, {2, Verdict::settled}});
}

TEST_CASE("failed and invalid trials count for nothing, and a split that has no others is not judged") {
  auto group = group_of({{1, 3, 100, 50, 0.0}, {2, 5, 200, 25, 0.0}});
  for (auto& record : group) {
    if (record.trial.split_points.front() == 2) record.status = record::Status::invalid;
  }
  CHECK(judge(group) == SplitVerdicts{{1, Verdict::open}});
  CHECK(judge(std::vector<record::TrialRecord>{}).empty());
}

TEST_CASE("the order of the records changes no verdict") {
  auto group = group_of({{1, 5, 100, 50, 0.02}, {2, 5, 104, 49, 0.05}, {3, 5, 150, 30, 0.05}});
  const auto verdicts = judge(group);
  std::reverse(group.begin(), group.end());
  CHECK(judge(group) == verdicts);
}
