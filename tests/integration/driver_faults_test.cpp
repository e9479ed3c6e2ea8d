// Processes that die, disks that fill and people who lose patience: nothing recorded is lost, nothing is left running.
#include <csignal>
#include <filesystem>

#include <support/file_size_limit.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

/// The unsplit model hangs in the middle of its second trial: with the seed's order, not the first trial of all.
const std::string kHangInTheSecondLocalTrial = "hang@0-3@" + std::to_string(kCallsOfATrial + 3);

/// --resume measures exactly what is missing, and leaves what was there byte by byte.
void check_resume_completes(const Shell& shell) {
  const auto before = support::read_file(shell.records_file());
  shell.run(0, kSweep + "--resume");
  CHECK(support::read_file(shell.records_file()).starts_with(before.substr(0, before.rfind('\n') + 1)));
  std::set<std::string> ids;
  for (const auto& record : shell.records()) ids.insert(record.trial.id());
  CHECK(count(shell.records(), record::Status::ok) == kTrials);
  CHECK(ids.size() == kTrials);
}

}  // namespace

TEST_CASE(
    "a sweep that is ended in the middle of a trial keeps the records and ends the stages, and until then no other "
    "sweep writes to its folder") {
  const auto [signal, exit_code] = GENERATE(table<int, int>({{SIGINT, 130}, {SIGTERM, 130}, {SIGKILL, 128 + SIGKILL}}));
  const Shell shell;
  const support::FaultOnce fault(kHangInTheSecondLocalTrial);
  auto sweep = shell.start(kSweep);
  REQUIRE(support::wait_until_written(fault.marker()));
  CHECK(contains(shell.run(3, kSweep + "--resume").errors, "another sweep"));
  const auto stages = support::watch(support::children_of(sweep.pid()));
  REQUIRE(stages.size() == 2);
  ::kill(sweep.pid(), signal);
  const auto outcome = sweep.wait();
  INFO(outcome.errors);
  CHECK(outcome.exit_code == exit_code);
  if (signal != SIGKILL) CHECK(contains(outcome.errors, "--resume"));
  CHECK(support::all_ended(stages));
  CHECK_FALSE(shell.records().empty());
  CHECK(count(shell.records(), record::Status::failed) == 0);  // the interrupted trial did not fail: it did not happen
  check_resume_completes(shell);
}

TEST_CASE("a sweep that is interrupted in its first trial says that nothing was measured, and leaves no folder") {
  const Shell shell;
  const support::FaultOnce fault("hang@0-1@1");
  const auto outcome = end_at(fault, SIGINT, shell, kSweep + "--split 1");
  CHECK(outcome.exit_code == 130);
  CHECK(contains(outcome.errors, "interrupted before anything was measured"));
  CHECK_FALSE(shell.has("out"));
}

TEST_CASE("a kill of the driver in the middle of writing a record costs that record only") {
  const SweptShell shell;
  const auto text = support::read_file(shell.records_file());
  support::write_file(shell.records_file(), text.substr(0, text.size() - 100));
  CHECK(contains(shell.run(0, "frontier out").errors, "unfinished"));
  check_resume_completes(shell);
}

TEST_CASE("kill -9 of a stage, or one bit of an output, is one failed trial, and the sweep goes on") {
  const auto [fault_text, said] =
      GENERATE(table<std::string, std::string>({{"kill@0-1@4", "killed by signal 9"},
                                                {"kill@1-3@4", "killed by signal 9"},
                                                {"kill@0-3@9", "killed by signal 9"},
                                                {"wrong@1-3@3", "differ"}}));  // from the unsplit model's
  const Shell shell;
  const support::FaultOnce fault(fault_text);
  const auto sweep = shell.run(1, kSweep);
  CHECK(contains(sweep.errors, said));
  CHECK(contains(sweep.output, "7 of 8 trials ok, 1 failed"));
  CHECK(count(shell.records(), record::Status::ok) == kTrials - 1);
  CHECK(count(shell.records(), record::Status::failed) == 1);
  shell.run(0, "frontier out");
  check_resume_completes(shell);
}

TEST_CASE("where every trial failed there is no frontier, and the exit code says so") {
  const Shell shell;
  const support::FaultOnce fault("throw@0-1@3");
  shell.run(1, sweep_of("synthetic:0ms/4kB,0ms") + "--split 1 --repeat 1");
  CHECK(contains(shell.run(1, "frontier out").errors, "there is no frontier"));
}

TEST_CASE("a disk that fills up ends the sweep with exit code 3, and what was recorded before is intact") {
  const Shell shell;
  {
    const support::FileSizeLimit full(std::filesystem::file_size(swept().records_file()) / 2);
    CHECK(contains(shell.run(3, kSweep).errors, "earlier records are intact"));
  }
  const auto set = record::read_records(shell.records_file());
  CHECK(set.warnings.empty());
  CHECK_FALSE(set.records.empty());
  CHECK(set.records.size() < kTrials);
  check_resume_completes(shell);
}
