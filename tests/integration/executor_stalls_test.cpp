// Stages that hang or slow down in the middle of a trial are named, long before the trial's timeout.
#include <cstdlib>
#include <string>
#include <vector>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>

#include "executor_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using namespace std::chrono_literals;
using support::contains;

namespace {

constexpr int kTimeoutSeconds = 600;  // which no test may come near

/// Impatient enough for a test, and patient enough for the innocent on a machine that is busy with other tests.
run::ExecutorOptions impatient() {
  auto options = options_with(kFakeStage, kTimeoutSeconds);
  options.watching.limits = {.first_look = 100ms, .every = 100ms, .stopped = 1s, .standstill = 3s, .unsure = 60s};
  return options;
}

record::Failure stall_failure_of(const record::TrialRecord& record) {
  REQUIRE(record.status == record::Status::failed);
  return *record.failure;
}

/// The trial fails well before its timeout, for this stage alone, and the next one gets new processes.
void check_named(const std::string& fault_text, int stage, const std::string& words, const experiment::Trial& trial) {
  CAPTURE(fault_text);
  const FaultOnce fault(fault_text);
  run::PipelineExecutor executor(impatient());
  const auto begin = Clock::now();
  const auto failure = stall_failure_of(executor.run(trial));
  CAPTURE(failure.reason);
  CHECK(Clock::now() - begin < 120s);
  CHECK(failure.phase == "run");
  CHECK(failure.stage == stage);
  CHECK(contains(failure.reason, "stage " + std::to_string(stage) + " hangs: " + words));
  CHECK(support::own_children().empty());
  CHECK(executor.run(trial).status == record::Status::ok);
}

}  // namespace

TEST_CASE("of three stages the one that was stopped is named, wherever it is") {
  const auto [fault, stage] =
      GENERATE(table<std::string, int>({{"stop@0-1@5", 0}, {"stop@1-2@9", 1}, {"stop@2-3@12", 2}}));
  check_named(fault, stage, "its process is stopped (SIGSTOP)", trial_at({1, 2}));
}

TEST_CASE("a receiver that was stopped is named, not the sender that is blocked by it") {
  auto trial = trial_at({1, 2});
  trial.model = "synthetic:0ms/12MB,0ms/4kB,0ms";  // more than sockets hold, several times over
  check_named("stop@1-2@5", 1, "its process is stopped (SIGSTOP)", trial);
}

TEST_CASE("of three stages the one whose block waits for ever is named") {
  const auto [fault, stage] =
      GENERATE(table<std::string, int>({{"hang@0-1@5", 0}, {"hang@1-2@9", 1}, {"hang@2-3@12", 2}}));
  check_named(fault, stage, "it has been computing the same batch for", trial_at({1, 2}));
}

TEST_CASE("a stage that hangs in the middle of a batch's micro-batches is named") {
  check_named("hang@1-2@7", 1, "it has been computing", trial_in_micro_batches({1, 2}, 8, 2));
}

TEST_CASE("a device that batches are dealt out to is named when it hangs") {
  auto trial = trial_at({});
  trial.data_parallel = 3;
  trial.cpus.assign(3, "");
  const FaultOnce fault("hang@0-3@18");
  run::PipelineExecutor executor(impatient());
  // The source computes all sixteen batches of this trial, and so is the first to get so far in the next one.
  REQUIRE(executor.run(trial_at({kBlocks, kBlocks})).status == record::Status::ok);
  const auto failure = stall_failure_of(executor.run(trial));
  CHECK(failure.stage == 0);
  CHECK(contains(failure.reason, "stage 0 hangs: it has been computing"));
}

TEST_CASE("the process that computes unsplit models is named when it is stopped") {
  const FaultOnce fault("stop@0-3@2");
  run::PipelineExecutor executor(impatient());
  const auto failure = stall_failure_of(executor.run(trial_at({1, 2})));
  CAPTURE(failure.reason);
  CHECK(failure.phase == "load");
  CHECK_FALSE(failure.stage.has_value());
  CHECK(contains(failure.reason, "the process that computes unsplit models hangs: its process is stopped (SIGSTOP)"));
}

TEST_CASE("a stage that computes on and on is told of, and waited for") {
  const FaultOnce fault("toil@1-2@9");
  auto options = impatient();
  options.watching.limits.standstill = 500ms;
  options.watching.limits.times_longest = 1;
  std::vector<std::string> notices;
  options.watching.notice = [&](const std::string& sentence) { notices.push_back(sentence); };
  run::PipelineExecutor executor(options);
  const auto record = executor.run(trial_at({1, 2}));
  INFO((record.failure ? record.failure->reason : ""));
  CHECK(record.status == record::Status::ok);
  REQUIRE(notices.size() == 1);
  CHECK(contains(notices.front(), "stage 1 is slow: it has been computing the same batch"));
}

TEST_CASE("being asked all the time where they are changes nothing for stages that are well") {
  auto options = impatient();
  options.watching.limits.first_look = options.watching.limits.every = 1ms;
  run::PipelineExecutor executor(options);
  for (int repetition = 0; repetition < 3; ++repetition) {
    auto trial = trial_at({1, 2}, repetition);
    trial.batches = 200;
    CHECK(executor.run(trial).status == record::Status::ok);
    CHECK(executor.last_result(trial).bytes.size() == 40);
  }
}

TEST_CASE("a stage that becomes slower within a trial is named in its record, and the others are not") {
  const FaultOnce fault("tire@1-2@70");  // of 2 phases of 42 batches
  run::PipelineExecutor executor(impatient());
  auto trial = trial_at({1, 2});
  trial.batches = 40;
  const auto record = executor.run(trial);
  REQUIRE(record.status == record::Status::ok);
  REQUIRE(record.slow_downs.size() == 1);
  const auto& slow = record.slow_downs.front();
  CHECK(slow.offline);
  CHECK(slow.stage == 1);
  CHECK(std::abs(slow.batch - (70 - 42 - 1)) <= 2);
  CHECK(slow.after_ns > slow.before_ns + 4e6);
  const nlohmann::json written = record;
  CHECK(nlohmann::json::parse(written.dump()).get<record::TrialRecord>() == record);
}
