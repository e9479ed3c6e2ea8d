#include <paretopipe/run/round_verdict.hpp>

#include <algorithm>
#include <vector>

#include <support/catch.hpp>

#include "../stats/samples.hpp"

using namespace paretopipe;
using run::Verdict;

namespace {

constexpr double kPrecision = 0.02;

/// The n-th repetition of a split, with the two numbers that decide.
record::TrialRecord measured(int split, int repetition, double latency_ns, double throughput) {
  record::TrialRecord record;
  record.trial = testing::make_trial(split, repetition);
  record.summary.emplace();
  record.summary->latency.p50_ns = latency_ns;
  record.summary->throughput_image_per_s = throughput;
  return record;
}

/// Repetitions of a split whose numbers lie within `spread` (as a share) around their middle.
void add(std::vector<record::TrialRecord>& group, int split, int repetitions, double latency_ns, double throughput,
         double spread) {
  for (int i = 0; i < repetitions; ++i) {
    const double off = repetitions > 1 ? spread * (2.0 * i / (repetitions - 1) - 1) : 0;
    group.push_back(measured(split, i, latency_ns * (1 + off), throughput * (1 - off)));
  }
}

std::map<int, Verdict> judge(const std::vector<record::TrialRecord>& group) {
  return run::judge_round(group, kPrecision, 1);
}

}  // namespace

TEST_CASE("a split that is worse in both by far is dropped after three repetitions") {
  std::vector<record::TrialRecord> group;
  add(group, 1, 3, 100, 50, 0.01);
  add(group, 2, 3, 200, 25, 0.01);
  CHECK(judge(group) == std::map<int, Verdict>{{1, Verdict::open}, {2, Verdict::dominated}});
}

TEST_CASE("nothing is dropped before three repetitions, nor settled before five") {
  std::vector<record::TrialRecord> group;
  add(group, 1, 4, 100, 50, 0.0);
  add(group, 2, 2, 200, 25, 0.0);
  CHECK(judge(group) == std::map<int, Verdict>{{1, Verdict::open}, {2, Verdict::open}});
  add(group, 3, 5, 100, 50, 0.0);
  CHECK(judge(group).at(3) == Verdict::settled);
}

TEST_CASE("a split with too few repetitions cannot drop another") {
  std::vector<record::TrialRecord> group;
  add(group, 1, 2, 100, 50, 0.0);
  add(group, 2, 5, 200, 25, 0.3);
  CHECK(judge(group).at(2) == Verdict::open);
}

TEST_CASE("a split that is better in one objective is on the frontier, and stays") {
  std::vector<record::TrialRecord> group;
  add(group, 1, 3, 100, 50, 0.01);
  add(group, 2, 3, 200, 75, 0.01);
  CHECK(judge(group).at(2) == Verdict::open);
}

TEST_CASE("a split that is worse by less than the precision is not dropped") {
  std::vector<record::TrialRecord> group;
  add(group, 1, 5, 100, 50, 0.001);
  add(group, 2, 5, 101, 49.5, 0.001);
  CHECK(judge(group).at(2) == Verdict::settled);
}

TEST_CASE("a split whose repetitions reach into the frontier is not dropped, and more are asked for") {
  std::vector<record::TrialRecord> group;
  add(group, 1, 5, 100, 50, 0.01);
  add(group, 2, 5, 120, 42, 0.4);
  CHECK(judge(group).at(2) == Verdict::open);
}

TEST_CASE("both objectives must be as narrow as asked for before a split is settled") {
  std::vector<record::TrialRecord> group;
  for (int i = 0; i < 5; ++i) group.push_back(measured(1, i, 100, 50 * (1 + 0.05 * i)));
  CHECK(judge(group).at(1) == Verdict::open);
}

TEST_CASE("two equal splits do not drop each other") {
  std::vector<record::TrialRecord> group;
  add(group, 1, 5, 100, 50, 0.0);
  add(group, 2, 5, 100, 50, 0.0);
  CHECK(judge(group) == std::map<int, Verdict>{{1, Verdict::settled}, {2, Verdict::settled}});
}

TEST_CASE("failed and invalid trials count for nothing, and a split that has no others is not judged") {
  std::vector<record::TrialRecord> group;
  add(group, 1, 3, 100, 50, 0.0);
  add(group, 2, 5, 200, 25, 0.0);
  for (auto& record : group) {
    if (record.trial.split_points.front() == 2) record.status = record::Status::invalid;
  }
  CHECK(judge(group) == std::map<int, Verdict>{{1, Verdict::open}});
  CHECK(judge({}).empty());
}

TEST_CASE("the order of the records changes no verdict") {
  std::vector<record::TrialRecord> group;
  add(group, 1, 5, 100, 50, 0.02);
  add(group, 2, 5, 104, 49, 0.05);
  add(group, 3, 5, 150, 30, 0.05);
  const auto verdicts = judge(group);
  std::reverse(group.begin(), group.end());
  CHECK(judge(group).at(3) == verdicts.at(3));
  CHECK(judge(group).at(1) == verdicts.at(1));
}
