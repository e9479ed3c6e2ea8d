// Processes that die, disks that fill and people who lose patience: nothing recorded is lost, nothing is left running.
#include <csignal>
#include <set>

#include <support/catch.hpp>
#include <support/fault_once.hpp>
#include <support/file_size_limit.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

namespace {

/// The unsplit model hangs in the middle of its second trial: with the seed's order, not the first trial of all.
const std::string kHangInTheSecondLocalTrial = "hang@0-3@" + std::to_string(kCallsOfATrial + 3);

std::set<std::string> ids_of(const std::vector<record::TrialRecord>& records) {
  std::set<std::string> ids;
  for (const auto& record : records) ids.insert(record.trial.id());
  return ids;
}

/// --resume measures exactly what is missing, and leaves what was there byte by byte.
void check_resume_completes(const Shell& shell) {
  const auto before = support::read_file(shell.records_file());
  const auto complete = before.substr(0, before.rfind('\n') + 1);
  const auto resumed = shell.run(kSweep + Shell::Words{"--resume"});
  INFO(resumed.errors);
  CHECK(resumed.exit_code == 0);
  CHECK(support::read_file(shell.records_file()).starts_with(complete));
  CHECK(count(shell.records(), record::Status::ok) == kTrials);
  CHECK(ids_of(shell.records()).size() == kTrials);
}

}  // namespace

TEST_CASE("a sweep that is ended in the middle of a trial keeps the records and ends the stages") {
  const auto [signal, exit_code] = GENERATE(table<int, int>({{SIGINT, 130}, {SIGTERM, 130}, {SIGKILL, 128 + SIGKILL}}));
  const Shell shell;
  const support::FaultOnce fault(kHangInTheSecondLocalTrial);
  auto sweep = shell.start(kSweep);
  REQUIRE(support::wait_until_written(fault.marker()));
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

TEST_CASE("a kill of the driver in the middle of writing a record costs that record only") {
  const Shell shell;
  REQUIRE(shell.run(kSweep).exit_code == 0);
  const auto text = support::read_file(shell.records_file());
  support::write_file(shell.records_file(), text.substr(0, text.size() - 100));
  const auto frontier = shell.run({"frontier", "out"});
  CHECK(frontier.exit_code == 0);
  CHECK(contains(frontier.errors, "unfinished"));
  check_resume_completes(shell);
}

TEST_CASE("kill -9 of a stage is one failed trial, and the sweep goes on with a new process") {
  const auto fault_text = GENERATE(as<std::string>{}, "kill@0-1@4", "kill@1-3@4", "kill@0-3@9");
  const Shell shell;
  const support::FaultOnce fault(fault_text);
  const auto sweep = shell.run(kSweep);
  CHECK(sweep.exit_code == 1);
  CHECK(contains(sweep.errors, "killed by signal 9"));
  CHECK(contains(sweep.output, "7 of 8 trials ok, 1 failed"));
  const auto records = shell.records();
  CHECK(count(records, record::Status::ok) == kTrials - 1);
  CHECK(count(records, record::Status::failed) == 1);
  CHECK(shell.run({"frontier", "out"}).exit_code == 0);
  check_resume_completes(shell);
}

TEST_CASE("an output that differs by one bit from the unsplit model's is a failed trial") {
  const Shell shell;
  const support::FaultOnce fault("wrong@1-3@3");
  const auto sweep = shell.run(kSweep);
  CHECK(sweep.exit_code == 1);
  CHECK(contains(sweep.errors, "differ"));
  CHECK(count(shell.records(), record::Status::failed) == 1);
}

TEST_CASE("where every trial failed there is no frontier, and the exit code says so") {
  const Shell shell;
  const support::FaultOnce fault("throw@0-1@3");
  const Shell::Words one_trial{
      "sweep", "--model", "synthetic:0ms/4kB,0ms", "--data", "random", "--split", "1", "--repeat", "1",
      "--out", "out",     "--repeat-slow",         "0"};
  CHECK(shell.run(one_trial).exit_code == 1);
  const auto frontier = shell.run({"frontier", "out"});
  CHECK(frontier.exit_code == 1);
  CHECK(contains(frontier.errors, "there is no frontier"));
}

TEST_CASE("a second sweep into the same folder is refused while the first one runs") {
  const Shell shell;
  const support::FaultOnce fault(kHangInTheSecondLocalTrial);
  auto first = shell.start(kSweep);
  REQUIRE(support::wait_until_written(fault.marker()));
  const auto second = shell.run(kSweep + Shell::Words{"--resume"});
  CHECK(second.exit_code == 3);
  CHECK(contains(second.errors, "another sweep"));
  ::kill(first.pid(), SIGTERM);
  CHECK(first.wait().exit_code == 130);
  check_resume_completes(shell);
}

TEST_CASE("a disk that fills up ends the sweep with exit code 3, and what was recorded before is intact") {
  const Shell shell;
  REQUIRE(shell.run(kSweep).exit_code == 0);
  const auto room_for_some = std::filesystem::file_size(shell.records_file()) / 2;
  std::filesystem::remove(shell.records_file());
  {
    const support::FileSizeLimit full(room_for_some);
    const auto sweep = shell.run(kSweep);
    INFO(sweep.errors);
    CHECK(sweep.exit_code == 3);
    CHECK(contains(sweep.errors, "earlier records are intact"));
  }
  const auto set = record::read_records(shell.records_file());
  CHECK(set.warnings.empty());
  CHECK_FALSE(set.records.empty());
  CHECK(set.records.size() < kTrials);
  check_resume_completes(shell);
}
