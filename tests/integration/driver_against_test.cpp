// Two stage programs measured in turns by the built driver: what becomes of their records, and what is refused.
#include <csignal>
#include <set>

#include <support/catch.hpp>
#include <support/fault_once.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;
namespace fs = std::filesystem;

namespace {

/// Another build: the same stage program behind a name of its own, in the environment that `settings` make.
fs::path other_build(const Shell& shell, const std::string& settings = "", const std::string& name = "other-stage") {
  const auto script = shell.folder() / name;
  support::write_file(script, "#!/bin/sh\n" + settings + " exec '" + PARETOPIPE_BIN_DIR + "/fake-stage' \"$@\"\n");
  fs::permissions(script, fs::perms::owner_all);
  return script;
}

Shell::Words sweep_against(const fs::path& other, const Shell::Words& more = {}) {
  return kSweep + Shell::Words{"--against", other.string()} + more;
}

std::vector<record::TrialRecord> base_records(const Shell& shell) {
  return record::read_records(shell.folder() / "out" / "base").records;
}

/// How many records of the sweep's own program have a partner.
int count_pairs(const Shell& shell) {
  int pairs = 0;
  for (const auto& own : shell.records()) {
    for (const auto& other : base_records(shell)) pairs += record::side_by_side(own, other) ? 1 : 0;
  }
  return pairs;
}

}  // namespace

TEST_CASE("every trial is measured by both programs, whose records lie in two folders and say whose they are") {
  const Shell shell;
  const auto outcome = shell.run(sweep_against(other_build(shell)));
  INFO(outcome.errors);
  REQUIRE(outcome.exit_code == 0);
  CHECK(contains(outcome.output, "16 of 16 trials ok"));
  CHECK(contains(outcome.output, "Next: paretopipe compare out/base out"));
  CHECK(count(shell.records(), record::Status::ok) == kTrials);
  CHECK(count(base_records(shell), record::Status::ok) == kTrials);
  CHECK(count_pairs(shell) == kTrials);
  std::set<std::string> own, other;
  for (const auto& record : shell.records()) own.insert(record.provenance.stage_program_sha256);
  for (const auto& record : base_records(shell)) other.insert(record.provenance.stage_program_sha256);
  CHECK(own.size() == 1);
  CHECK(other.size() == 1);
  CHECK(own != other);
  const auto comparison = shell.run({"compare", "out/base", "out"});
  CHECK(comparison.exit_code == 0);
  CHECK(contains(comparison.output, "pair by pair"));
  CHECK(shell.run({"frontier", "out"}).exit_code == 0);
}

TEST_CASE("a program that is measured beside itself is said to show noise") {
  const Shell shell;
  const auto outcome = shell.run(sweep_against(std::string(PARETOPIPE_BIN_DIR) + "/fake-stage"));
  CHECK(outcome.exit_code == 0);
  CHECK(contains(outcome.errors, "what will differ is noise"));
}

TEST_CASE("a sweep of two programs that is killed keeps what was measured, and --resume completes the pairs") {
  const Shell shell;
  const auto other = other_build(shell);
  const support::FaultOnce fault("hang@0-1@" + std::to_string(kCallsOfATrial + 3));  // the second trial at split 1
  auto sweep = shell.start(sweep_against(other));
  REQUIRE(support::wait_until_written(fault.marker()));
  const auto stages = support::watch(support::children_of(sweep.pid()));
  ::kill(sweep.pid(), SIGKILL);
  sweep.wait();
  CHECK(support::all_ended(stages));
  const auto own_before = support::read_file(shell.records_file());
  const auto base_before = support::read_file(shell.folder() / "out" / "base" / "records.jsonl");
  CHECK_FALSE((own_before + base_before).empty());
  const auto resumed = shell.run(sweep_against(other, {"--resume"}));
  INFO(resumed.errors);
  CHECK(resumed.exit_code == 0);
  CHECK(support::read_file(shell.records_file()).starts_with(own_before.substr(0, own_before.rfind('\n') + 1)));
  CHECK(contains(resumed.output, "16 of 16 trials ok"));
  CHECK(count(shell.records(), record::Status::ok) == kTrials);
  CHECK(count_pairs(shell) == kTrials);
  CHECK(contains(shell.run(sweep_against(other, {"--resume", "--dry-run"})).output, "0 trials would be run"));
}

TEST_CASE("a sweep is not continued with another program than it was begun with") {
  const Shell shell;
  REQUIRE(shell.run(sweep_against(other_build(shell))).exit_code == 0);
  const auto rebuilt = other_build(shell, "SOME=thing");
  const auto outcome = shell.run(sweep_against(rebuilt, {"--resume"}));
  CHECK(outcome.exit_code == 2);
  CHECK(contains(outcome.errors, "was measured with another stage program"));
  CHECK(contains(outcome.errors, "other-stage"));
}

TEST_CASE("a second program that cannot be one is refused by name, and leaves nothing behind") {
  const Shell shell;
  support::write_file(shell.folder() / "data", "not a program");
  const auto older = other_build(shell, "FAKE_STAGE_FAULT=older", "older-stage");
  const auto other = other_build(shell);
  struct Wrong {
    Shell::Words words;
    int exit_code;
    std::string named;
  };
  for (const auto& [words, exit_code, named] : std::vector<Wrong>{
           {sweep_against("/no/such/stage"), 2, "--against: there is no /no/such/stage"},
           {sweep_against("data"), 2, "--against: data is no program that can be executed"},
           {sweep_against("."), 2, "--against: . is no program that can be executed"},
           {sweep_against("/bin/true"), 3, "--against /bin/true: "},
           {sweep_against(older), 3, "older-stage) speaks version 1 of the control protocol, this driver version "},
           {kInstantSweep + Shell::Words{"--repeat", "auto", "--against", other.string()}, 2, "give --repeat a number"},
           {sweep_against(other, {"--active-openmp-wait"}), 2, "--active-openmp-wait"}}) {
    const auto outcome = shell.run(words);
    CAPTURE(words, outcome.errors);
    CHECK(outcome.exit_code == exit_code);
    CHECK(contains(outcome.errors, named));
    CHECK_FALSE(fs::exists(shell.folder() / "out"));
  }
}
