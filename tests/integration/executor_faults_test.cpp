// Stages that die, break or compute something wrong: a failure that names them, of this trial alone.
#include <csignal>
#include <filesystem>
#include <thread>

#include "executor_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

void require_failure(const record::TrialRecord& record, const std::string& phase, const std::string& reason) {
  REQUIRE(record.status == record::Status::failed);
  REQUIRE_FALSE(record.summary.has_value());
  CAPTURE(record.failure->reason);
  CHECK(record.failure->phase == phase);
  CHECK(contains(record.failure->reason, reason));
  check_survives_writing(record);
}

/// The next trial, and the one that failed, succeed on new processes; none of the old is left.
void require_recovery(run::PipelineExecutor& executor, const experiment::Trial& failed) {
  REQUIRE(support::own_children().empty());
  const auto next = failed.micro_batch > 0 ? trial_in_micro_batches({1, 2}, 8, 1) : trial_at({2}, 1);
  CHECK(executor.run(next).status == record::Status::ok);
  CHECK(executor.run(failed).status == record::Status::ok);
  CHECK(support::own_children().size() == failed.cpus.size());
}

}  // namespace

TEST_CASE("of two or three stages the one that dies or breaks is named in its own words, whichever complains first") {
  struct Fault {
    std::string text;
    int stage;
    std::vector<int> splits;
    bool in_micro_batches = false;
  };
  const auto fault = GENERATE(values<Fault>({
      // The first, a middle and the last batch of the trial, of two stages and of three.
      {"kill@0-1@1", 0, {1}},
      {"kill@0-1@7", 0, {1}},
      {"kill@0-1@16", 0, {1}},
      {"kill@1-3@1", 1, {1}},
      {"kill@1-3@7", 1, {1}},
      {"kill@1-3@16", 1, {1}},
      {"kill@0-1@5", 0, {1, 2}},
      {"kill@1-2@5", 1, {1, 2}},
      {"kill@2-3@5", 2, {1, 2}},
      {"throw@0-1@1", 0, {1}},
      {"throw@0-1@9", 0, {1}},
      {"throw@1-3@1", 1, {1}},
      {"throw@1-3@9", 1, {1}},
      {"throw@1-3@16", 1, {1}},
      {"throw@0-1@6", 0, {1, 2}},
      {"throw@1-2@6", 1, {1, 2}},
      {"throw@2-3@6", 2, {1, 2}},
      // All is local; another process runs the whole model 8 times for the reference outputs.
      {"kill@0-3@12", 0, {3}},
      // 2 phases of 8 batches of 4 micro-batches: the first, a middle and the last one of a batch, and the last of all.
      {"kill@0-1@5", 0, {1, 2}, true},
      {"kill@1-2@6", 1, {1, 2}, true},
      {"kill@1-2@39", 1, {1, 2}, true},
      {"kill@2-3@8", 2, {1, 2}, true},
      {"kill@2-3@64", 2, {1, 2}, true},
  }));
  CAPTURE(fault.text, fault.splits, fault.in_micro_batches);
  const FaultOnce once(fault.text);
  run::PipelineExecutor executor(options_with());
  const auto trial = fault.in_micro_batches ? trial_in_micro_batches(fault.splits, 8, 2) : trial_at(fault.splits);
  const auto record = executor.run(trial);
  require_failure(record, "run",
                  fault.text.starts_with("throw") ? "the block broke on purpose"
                                                  : "stage " + std::to_string(fault.stage) + " was killed by signal 9");
  CHECK(record.failure->stage == fault.stage);
  require_recovery(executor, trial);
}

TEST_CASE("one flipped bit, or NaN, of an activation, a result or a micro-batch makes the trial a failure") {
  const auto [fault_text, in_micro_batches] = GENERATE(table<std::string, bool>({{"wrong@0-1@1", false},
                                                                                 {"wrong@0-1@16", false},
                                                                                 {"wrong@1-3@1", false},
                                                                                 {"wrong@1-3@16", false},
                                                                                 {"nan@0-1@3", false},
                                                                                 {"nan@1-3@3", false},
                                                                                 {"nan@1-3@16", false},
                                                                                 {"wrong@1-3@1", true},
                                                                                 {"wrong@1-3@2", true},
                                                                                 {"wrong@1-3@63", true}}));
  CAPTURE(fault_text, in_micro_batches);
  const FaultOnce fault(fault_text);
  run::PipelineExecutor executor(options_with());
  const auto trial = in_micro_batches ? trial_in_micro_batches({1}, 8, 2) : trial_at({1});
  const auto record = executor.run(trial);
  require_failure(record, "check", "the output differs from the unsplit model's");
  CHECK(record.fidelity->max_abs_difference > 0);
  CHECK(executor.run(trial).status == record::Status::ok);
}

TEST_CASE("the process that computes the unsplit model is no stage, and its death a failure of this trial only") {
  const FaultOnce once("kill@0-3@2");
  run::PipelineExecutor executor(options_with());
  const auto trial = trial_at({1});
  const auto record = executor.run(trial);
  require_failure(record, "load", "the process that computes unsplit models was killed by signal 9");
  CHECK_FALSE(record.failure->stage.has_value());
  require_recovery(executor, trial);
}

TEST_CASE("the unsplit model of a later trial that ends the process fails no trial: it is computed anew in its turn") {
  const FaultOnce once("kill@0-2@2");
  run::PipelineExecutor executor(options_with());
  auto other = trial_at({1});
  other.model = "synthetic:0ms/40B,0ms";
  other.block_count = 2;
  executor.expect({trial_at({1}), other});
  CHECK(executor.run(trial_at({1})).status == record::Status::ok);
  CHECK(std::filesystem::exists(once.marker()));
  CHECK(executor.run(other).status == record::Status::ok);
}

TEST_CASE("no process but the stages is there while a trial runs, and unsplit models are computed once") {
  const FaultOnce once("hang@0-1@12");
  run::PipelineExecutor executor(options_with());
  const auto other = trial_in_micro_batches({1}, 4, 2);
  executor.expect({other, trial_at({1}), trial_at({2})});
  executor.describe(trial_at({1}));
  CHECK(support::own_children().size() == 3);
  std::size_t processes = 0;
  // The stage hangs until it has been counted: its end, and no timeout, is what ends the trial.
  std::thread witness([&] {
    if (!support::wait_until_written(once.marker())) return;
    processes = support::own_children().size();
    ::kill(static_cast<pid_t>(std::stol(support::read_file(once.marker()))), SIGKILL);
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
    run::PipelineExecutor executor(options_with());
    check_throws<UsageError>([&] { executor.run(trial); }, {"cannot be measured optimized", "Use --compute eager"});
  }
  const FaultOnce slight("wrong@0-3@9");  // a rounding, which the mode allows
  run::PipelineExecutor executor(options_with());
  const auto record = executor.run(trial);
  REQUIRE(record.fidelity.has_value());
  const auto unsplit = record.fidelity->unsplit_against_eager;
  REQUIRE(unsplit.has_value());
  CHECK(unsplit->max_abs_difference > 0);
  CHECK(unsplit->max_abs_difference <= unsplit->tolerance);
  CHECK(unsplit->images == 8);
  check_survives_writing(record);
  CHECK_FALSE(executor.run(trial_at({1})).fidelity->unsplit_against_eager.has_value());
}

TEST_CASE("a reason that every trial of the model would have ends the sweep instead of filling it with failures") {
  const FaultOnce fault("throw@0-3@1");  // while the reference outputs are made
  run::PipelineExecutor executor(options_with());
  check_throws<Error>([&] { executor.run(trial_at({1})); }, {"the block broke on purpose"});
}

TEST_CASE("a model whose own output is NaN is refused: nothing could be checked against it") {
  const FaultOnce fault("nan@0-3@1");
  run::PipelineExecutor executor(options_with());
  check_throws<Error>([&] { executor.run(trial_at({1})); }, {"not finite"});
}
