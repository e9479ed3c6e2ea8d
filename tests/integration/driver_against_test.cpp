// Two stage programs measured in turns by the built driver: what becomes of their records, and what is refused.
#include <csignal>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

/// Words for another build: the same stage program behind a name of its own, in the environment that `settings` make.
std::string against_other(const Shell& shell, const std::string& settings = "",
                          const std::string& name = "other-stage") {
  const auto script = shell.folder() / name;
  support::write_script(script, settings + " exec '" + kStage + "' \"$@\"");
  return "--against '" + script.string() + "' ";
}

/// Both programs measured every trial, and every record has its partner.
void check_complete(const Shell& shell, const support::Outcome& outcome) {
  CHECK(contains(outcome.output, "16 of 16 trials ok"));
  const auto records = shell.records(), others = shell.records("out/base");
  CHECK(count(records, record::Status::ok) == kTrials);
  CHECK(count(others, record::Status::ok) == kTrials);
  int pairs = 0;
  for (const auto& own : records) {
    for (const auto& other : others) pairs += record::side_by_side(own, other) ? 1 : 0;
  }
  CHECK(pairs == kTrials);
}

}  // namespace

TEST_CASE(
    "every trial is measured by both programs, whose records lie in two folders and say whose they are, and the sweep "
    "is not continued with another program") {
  const Shell shell;
  const auto outcome = shell.run(0, kSweep + against_other(shell));
  CHECK(contains(outcome.output, "Next: paretopipe compare out/base out"));
  check_complete(shell, outcome);
  std::set<std::string> own, other;
  for (const auto& record : shell.records()) own.insert(record.provenance.stage_program_sha256);
  for (const auto& record : shell.records("out/base")) other.insert(record.provenance.stage_program_sha256);
  CHECK(own.size() == 1);
  CHECK(other.size() == 1);
  CHECK(own != other);
  CHECK(contains(shell.run(0, "compare out/base out").output, "pair by pair"));
  shell.run(0, "frontier out");
  const auto rebuilt = shell.run(2, kSweep + against_other(shell, "SOME=thing") + "--resume");
  check_contains(rebuilt.errors, {"was measured with another stage program", "other-stage"});
}

TEST_CASE("a program that is measured beside itself is said to show noise") {
  const auto outcome = Shell().run(0, kSweep + ("--against " + kStage));
  CHECK(contains(outcome.errors, "what will differ is noise"));
}

TEST_CASE("a sweep of two programs that is killed keeps what was measured, and --resume completes the pairs") {
  const Shell shell;
  const auto words = kSweep + against_other(shell);
  const support::FaultOnce fault("hang@0-1@" + std::to_string(kCallsOfATrial + 3));  // the second trial at split 1
  end_at(fault, SIGKILL, shell, words);
  const auto own_before = support::read_file(shell.records_file());
  CHECK_FALSE((own_before + shell.text("out/base/records.jsonl")).empty());
  check_complete(shell, shell.run(0, words + "--resume"));
  CHECK(support::read_file(shell.records_file()).starts_with(own_before.substr(0, own_before.rfind('\n') + 1)));
  CHECK(contains(shell.run(words + "--resume --dry-run").output, "0 trials would be run"));
}

TEST_CASE("a second program that cannot be one is refused by name, and leaves nothing behind") {
  const Shell shell;
  shell.write("data", "not a program");
  const auto older = against_other(shell, "FAKE_STAGE_FAULT=older", "older-stage");
  const auto other = against_other(shell);
  check_refused(shell, kInstantSweep,
                {{"--against /no/such/stage", "--against: there is no /no/such/stage"},
                 {"--against data", "--against: data is not a program that can be executed"},
                 {"--against .", "--against: . is not a program that can be executed"},
                 {"--against /bin/true", "--against /bin/true: ", 3},
                 {older, "older-stage) speaks version 1 of the control protocol, this driver version ", 3},
                 {"--repeat auto " + other, "give --repeat a number"},
                 {other + "--active-openmp-wait", "--active-openmp-wait"}});
}
