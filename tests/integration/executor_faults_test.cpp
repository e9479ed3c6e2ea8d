#include <thread>

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
void require_recovery(run::PipelineExecutor& executor, const experiment::Trial& failed) {
  REQUIRE(support::own_children().empty());
  CHECK(executor.run(trial_at({2}, 1)).status == record::Status::ok);
  CHECK(executor.run(failed).status == record::Status::ok);
  CHECK(support::own_children().size() == failed.cpus.size());
}

struct Fault {
  std::string text;
  int stage;
};

/// The fault makes a trial at these splits a failure that names its stage, and of this trial alone.
void check_failure(const Fault& fault, std::vector<int> splits, const std::string& phase, const std::string& reason) {
  CAPTURE(fault.text);
  const FaultOnce once(fault.text);
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto trial = trial_at(std::move(splits));
  const auto record = executor.run(trial);
  require_failure(record, phase, reason);
  CHECK(record.failure->stage == fault.stage);
  require_recovery(executor, trial);
}

void check_death(const Fault& fault, std::vector<int> splits, const std::string& phase = "run") {
  check_failure(fault, std::move(splits), phase, "stage " + std::to_string(fault.stage) + " was killed by signal 9");
}

void check_own_words(const Fault& fault, std::vector<int> splits) {
  check_failure(fault, std::move(splits), "run", "the block broke on purpose");
}

/// The fault makes the output of a trial another one than the unsplit model's, which is noticed.
void check_wrong_output(const std::string& fault_text) {
  CAPTURE(fault_text);
  const FaultOnce fault(fault_text);
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto record = executor.run(trial_at({1}));
  require_failure(record, "check", "the output differs from the unsplit model's");
  CHECK(record.fidelity->max_abs_difference > 0);
  CHECK(executor.run(trial_at({1})).status == record::Status::ok);
}

}  // namespace

TEST_CASE("a stage that is killed in the middle of a trial is named, and the next trial gets new processes") {
  // Split 1: stage 0 has block 0, stage 1 blocks 1 and 2. The first, a middle and the last batch of the trial.
  check_death(GENERATE(Fault{"kill@0-1@1", 0}, Fault{"kill@0-1@7", 0}, Fault{"kill@0-1@16", 0}, Fault{"kill@1-3@1", 1},
                       Fault{"kill@1-3@7", 1}, Fault{"kill@1-3@16", 1}),
              {1});
}

TEST_CASE("of three stages the one that died is named, whichever complains first") {
  check_death(GENERATE(Fault{"kill@0-1@5", 0}, Fault{"kill@1-2@5", 1}, Fault{"kill@2-3@5", 2}), {1, 2});
}

TEST_CASE(
    "a stage that is killed in the middle of a batch's micro-batches is named, and the sweep goes on in "
    "micro-batches") {
  // 2 phases of 8 batches of 4 micro-batches: the first, a middle and the last micro-batch of a batch, and the last of
  // all.
  const auto fault = GENERATE(Fault{"kill@0-1@5", 0}, Fault{"kill@1-2@6", 1}, Fault{"kill@1-2@39", 1},
                              Fault{"kill@2-3@8", 2}, Fault{"kill@2-3@64", 2});
  CAPTURE(fault.text);
  const FaultOnce once(fault.text);
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto trial = trial_in_micro_batches({1, 2}, 8, 2);
  const auto record = executor.run(trial);
  require_failure(record, "run", "stage " + std::to_string(fault.stage) + " was killed by signal 9");
  CHECK(record.failure->stage == fault.stage);
  CHECK(executor.run(trial_in_micro_batches({1, 2}, 8, 1)).status == record::Status::ok);
  CHECK(executor.run(trial).status == record::Status::ok);
}

TEST_CASE("one flipped bit of any micro-batch makes the trial a failure") {
  const FaultOnce fault(GENERATE(as<std::string>{}, "wrong@1-3@1", "wrong@1-3@2", "wrong@1-3@63"));
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto record = executor.run(trial_in_micro_batches({1}, 8, 2));
  require_failure(record, "check", "the output differs from the unsplit model's");
  CHECK(executor.run(trial_in_micro_batches({1}, 8, 2)).status == record::Status::ok);
}

TEST_CASE("a stage that dies where all is local is named") {
  check_death({"kill@0-3@12", 0}, {3});  // another process runs the whole model 8 times for the reference outputs
}

TEST_CASE("the process that computes the unsplit model is no stage, and its death a failure of this trial only") {
  const FaultOnce once("kill@0-3@2");
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto trial = trial_at({1});
  const auto record = executor.run(trial);
  require_failure(record, "load", "the process that computes unsplit models was killed by signal 9");
  CHECK_FALSE(record.failure->stage.has_value());
  require_recovery(executor, trial);
}

TEST_CASE("the unsplit model of a later trial that ends the process fails that trial only, when its turn comes") {
  const FaultOnce once("kill@0-2@2");
  run::PipelineExecutor executor(options_with(kFakeStage));
  auto other = trial_at({1});
  other.model = "synthetic:0ms/40B,0ms";
  other.block_count = 2;
  executor.expect({trial_at({1}), other});
  CHECK(executor.run(trial_at({1})).status == record::Status::ok);
  CHECK(executor.run(other).status == record::Status::ok);  // the fault has been, and the model is computed anew
}

TEST_CASE("no process but the stages is there while a trial runs, and unsplit models are computed once") {
  const FaultOnce once("hang@0-1@12");
  run::PipelineExecutor executor(options_with(kFakeStage, 2));
  const auto other = trial_in_micro_batches({1}, 4, 2);
  executor.expect({other, trial_at({1}), trial_at({2})});
  executor.describe(trial_at({1}));
  CHECK(support::own_children().size() == 3);
  std::size_t processes = 0;
  std::thread witness([&] {
    if (support::wait_until_written(once.marker())) processes = support::own_children().size();
  });
  CHECK(executor.run(trial_at({1})).status == record::Status::failed);
  witness.join();
  CHECK(processes == 2);
  for (const auto& trial : {other, trial_at({1}), trial_at({2}), other}) {
    CHECK(executor.run(trial).status == record::Status::ok);
    CHECK(support::own_children().size() == 2);
  }
}

TEST_CASE("a model whose optimized graph computes something else is refused before anything is measured") {
  auto trial = trial_at({1});
  trial.compute.compute = experiment::Compute::optimized;
  {
    const FaultOnce wrong("off@0-3@9");  // the first of the calls after eager mode's eight
    run::PipelineExecutor executor(options_with(kFakeStage));
    const auto message = support::message_of<UsageError>([&] { executor.run(trial); });
    CAPTURE(message);
    CHECK(contains(message, "cannot be measured optimized"));
    CHECK(contains(message, "Use --compute eager"));
  }
  const FaultOnce slight("wrong@0-3@9");  // a rounding, which the mode allows
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto record = executor.run(trial);
  REQUIRE(record.fidelity.has_value());
  const auto unsplit = record.fidelity->unsplit_against_eager;
  REQUIRE(unsplit.has_value());
  CHECK(unsplit->max_abs_difference > 0);
  CHECK(unsplit->max_abs_difference <= unsplit->tolerance);
  CHECK(unsplit->images == 8);
  const nlohmann::json written = record;
  CHECK(nlohmann::json::parse(written.dump()).get<record::TrialRecord>() == record);
  CHECK_FALSE(executor.run(trial_at({1})).fidelity->unsplit_against_eager.has_value());
}

TEST_CASE("an error inside of a block is reported with its own words, not with a neighbour's broken link") {
  check_own_words(GENERATE(Fault{"throw@0-1@1", 0}, Fault{"throw@0-1@9", 0}, Fault{"throw@1-3@1", 1},
                           Fault{"throw@1-3@9", 1}, Fault{"throw@1-3@16", 1}),
                  {1});
}

TEST_CASE("an error in any of three stages is reported with its own words") {
  check_own_words(GENERATE(Fault{"throw@0-1@6", 0}, Fault{"throw@1-2@6", 1}, Fault{"throw@2-3@6", 2}), {1, 2});
}

TEST_CASE("a reason that every trial of the model would have ends the sweep instead of filling it with failures") {
  const FaultOnce fault("throw@0-3@1");  // while the reference outputs are made
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto message = support::message_of<Error>([&] { executor.run(trial_at({1})); });
  CHECK(contains(message, "the block broke on purpose"));
}

TEST_CASE("one flipped bit of an activation or a result makes the trial a failure, not a fast result") {
  check_wrong_output(GENERATE(as<std::string>{}, "wrong@0-1@1", "wrong@0-1@16", "wrong@1-3@1", "wrong@1-3@16"));
}

TEST_CASE("NaN in the output is a difference, and its record is still JSON") {
  check_wrong_output(GENERATE(as<std::string>{}, "nan@0-1@3", "nan@1-3@3", "nan@1-3@16"));
}

TEST_CASE("a model whose own output is NaN is refused: nothing could be checked against it") {
  const FaultOnce fault("nan@0-3@1");
  run::PipelineExecutor executor(options_with(kFakeStage));
  CHECK(contains(support::message_of<Error>([&] { executor.run(trial_at({1})); }), "not finite"));
}
