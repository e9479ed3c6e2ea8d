#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "executor_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

namespace {

void require_failure(const record::TrialRecord& record, const std::string& phase, const std::string& reason) {
  REQUIRE(record.status == record::Status::failed);
  REQUIRE_FALSE(record.summary.has_value());
  CAPTURE(record.failure->reason);
  CHECK(record.failure->phase == phase);
  CHECK(contains(record.failure->reason, reason));
  const nlohmann::json written = record;
  CHECK(nlohmann::json::parse(written.dump()).get<record::TrialRecord>() == record);
}

/// The next trial, and the one that failed, succeed on new processes; none of the old is left.
void require_recovery(run::PipelineExecutor& executor, const plan::Trial& failed) {
  REQUIRE(support::own_children().empty());
  CHECK(executor.run(trial_at({2}, 1)).status == record::Status::ok);
  CHECK(executor.run(failed).status == record::Status::ok);
  CHECK(support::own_children().size() == failed.cpus.size());
}

struct Death {
  std::string fault;
  int stage;
};

}  // namespace

TEST_CASE("a stage that is killed in the middle of a trial is named, and the next trial gets new processes") {
  // Split 1: stage 0 has block 0, stage 1 blocks 1 and 2. The first, a middle and the last batch of the trial.
  const auto death = GENERATE(Death{"kill@0-1@1", 0}, Death{"kill@0-1@7", 0}, Death{"kill@0-1@16", 0},
                              Death{"kill@1-3@1", 1}, Death{"kill@1-3@7", 1}, Death{"kill@1-3@16", 1});
  CAPTURE(death.fault);
  const FaultOnce fault(death.fault);
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto trial = trial_at({1});
  const auto record = executor.run(trial);
  require_failure(record, "run", "was killed by signal 9");
  CHECK(record.failure->stage == death.stage);
  CHECK(contains(record.failure->reason, "stage " + std::to_string(death.stage)));
  require_recovery(executor, trial);
}

TEST_CASE("of three stages the one that died is named, whichever complains first") {
  const auto death = GENERATE(Death{"kill@0-1@5", 0}, Death{"kill@1-2@5", 1}, Death{"kill@2-3@5", 2});
  CAPTURE(death.fault);
  const FaultOnce fault(death.fault);
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto trial = trial_at({1, 2});
  const auto record = executor.run(trial);
  require_failure(record, "run", "was killed by signal 9");
  CHECK(record.failure->stage == death.stage);
  require_recovery(executor, trial);
}

TEST_CASE("a stage that dies where all is local is named") {
  const FaultOnce fault("kill@0-3@12");  // the source runs the whole model 8 times for the reference outputs
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto trial = trial_at({3});
  const auto record = executor.run(trial);
  require_failure(record, "run", "was killed by signal 9");
  CHECK(record.failure->stage == 0);
  require_recovery(executor, trial);
}

TEST_CASE("a stage that dies while it prepares is a failure to load, and only of this trial") {
  const FaultOnce fault("kill@0-3@2");
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto trial = trial_at({1});
  const auto record = executor.run(trial);
  require_failure(record, "load", "was killed by signal 9");
  CHECK(record.failure->stage == 0);
  require_recovery(executor, trial);
}

TEST_CASE("an error inside of a block is reported with its own words, not with a neighbour's broken link") {
  const auto error = GENERATE(Death{"throw@0-1@1", 0}, Death{"throw@0-1@9", 0}, Death{"throw@1-3@1", 1},
                              Death{"throw@1-3@9", 1}, Death{"throw@1-3@16", 1});
  CAPTURE(error.fault);
  const FaultOnce fault(error.fault);
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto trial = trial_at({1});
  const auto record = executor.run(trial);
  require_failure(record, "run", "the block broke on purpose");
  CHECK(record.failure->stage == error.stage);
  require_recovery(executor, trial);
}

TEST_CASE("an error in any of three stages is reported with its own words") {
  const auto error = GENERATE(Death{"throw@0-1@6", 0}, Death{"throw@1-2@6", 1}, Death{"throw@2-3@6", 2});
  CAPTURE(error.fault);
  const FaultOnce fault(error.fault);
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto record = executor.run(trial_at({1, 2}));
  require_failure(record, "run", "the block broke on purpose");
  CHECK(record.failure->stage == error.stage);
}

TEST_CASE("a reason that every trial of the model would have ends the sweep instead of filling it with failures") {
  const FaultOnce fault("throw@0-3@1");  // while the reference outputs are made
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto message = support::message_of<Error>([&] { executor.run(trial_at({1})); });
  CHECK(contains(message, "the block broke on purpose"));
}

TEST_CASE("one flipped bit of an activation or a result makes the trial a failure, not a fast result") {
  const auto fault_text = GENERATE(as<std::string>{}, "wrong@0-1@1", "wrong@0-1@16", "wrong@1-3@1", "wrong@1-3@16");
  CAPTURE(fault_text);
  const FaultOnce fault(fault_text);
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto record = executor.run(trial_at({1}));
  require_failure(record, "check", "the output differs from the unsplit model's");
  CHECK(record.fidelity->max_abs_difference > 0);
  CHECK(executor.run(trial_at({1})).status == record::Status::ok);
}

TEST_CASE("NaN in the output is a difference, and its record is still JSON") {
  const auto fault_text = GENERATE(as<std::string>{}, "nan@0-1@3", "nan@1-3@3", "nan@1-3@16");
  CAPTURE(fault_text);
  const FaultOnce fault(fault_text);
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto record = executor.run(trial_at({1}));
  require_failure(record, "check", "the output differs from the unsplit model's");
  CHECK(record.fidelity->max_abs_difference > 0);
}

TEST_CASE("a model whose own output is NaN is refused: nothing could be checked against it") {
  const FaultOnce fault("nan@0-3@1");
  run::PipelineExecutor executor(options_with(kFakeStage));
  CHECK(contains(support::message_of<Error>([&] { executor.run(trial_at({1})); }), "not finite"));
}
