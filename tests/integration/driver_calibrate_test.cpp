// `paretopipe calibrate` on a real pipeline. How large the errors are is the machine's business: no test depends on it.
#include <csignal>

#include <nlohmann/json.hpp>
#include <support/file_size_limit.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

const Words kCalibrate = "calibrate --quick";

}  // namespace

TEST_CASE("a calibration's data sheet has errors of every cell, and the exit code is its verdict") {
  const Shell shell;
  const auto run = shell.run(kCalibrate + "--format json --out sheet.json");
  INFO(run.errors);
  const auto sheet = nlohmann::json::parse(shell.text("sheet.json"));
  CHECK(run.exit_code == (sheet.at("kept").get<bool>() ? 0 : 1));
  check_contains(run.output, {"sheet.json", "errors are within the promise"});
  CHECK(sheet.at("schema") == 1);
  CHECK(sheet.at("provenance").at("command_line").at(1) == "calibrate");
  CHECK_FALSE(sheet.at("host").at("kernel").get<std::string>().empty());
  REQUIRE(sheet.at("cells").size() == 8);
  bool all_kept = true;
  for (const auto& cell : sheet["cells"]) {
    if (cell.contains("failures")) {  // a network that a busy machine could not emulate
      all_kept = false;
      continue;
    }
    CHECK(cell.at("readings").size() == 8);
    for (const auto& reading : cell["readings"]) {
      REQUIRE(reading.at("measured_ns").size() == 1);
      CHECK(reading["measured_ns"][0].get<double>() > 0);
      // A block never takes less than it was told to, and nothing arrives before the delay is over.
      if (reading["quantity"] == "compute_stage0") CHECK(reading.at("error_ns").get<double>() >= 0);
      if (reading["quantity"] == "transfer" && cell["network"] == "emulated") {
        CHECK(reading["measured_ns"][0].get<double>() > sheet["emulated_network"]["forward"]["delay_ns"].get<double>());
      }
      all_kept = all_kept && reading.value("kept", true);
    }
  }
  CHECK(sheet.at("kept") == all_kept);
}

TEST_CASE("a stage that dies is a failure in the data sheet, and the verdict is bad") {
  const Shell shell;
  const support::FaultOnce fault("kill@1-2@4");
  check_contains(shell.run(1, kCalibrate).output, {"MISSED", "killed by signal 9", "have no result"});
}

TEST_CASE("a calibration that is interrupted writes nothing and ends its stages") {
  const Shell shell;
  const support::FaultOnce fault("hang@0-1@4");
  const auto outcome = end_at(fault, SIGINT, shell, kCalibrate + "--out sheet.txt");
  CHECK(outcome.exit_code == 130);
  CHECK(contains(outcome.errors, "nothing was written"));
  CHECK(shell.files().empty());
}

TEST_CASE("a calibration that cannot be is refused before anything is measured") {
  check_refused(
      Shell(), "calibrate",
      {{"--out nowhere/sheet.json", "there is no folder nowhere"}, {"--repeat 0", "repeat"}, {"--format xml", "xml"}});
  const Shell shell;
  const support::ScopedVariable no_stage("PARETOPIPE_STAGE", "/nowhere/stage");
  check_refused(shell, kCalibrate, {{"", "/nowhere/stage", 3}});
}

TEST_CASE("a disk that is full costs the data sheet, and says so") {
  const Shell shell;
  shell.write("sheet.json", "former");
  // Less than a data sheet; enough for what the program says, which goes to a file, too: of every trial that a busy
  // machine spoils, a sentence.
  const support::FileSizeLimit full(6000);
  CHECK(contains(shell.run(3, kCalibrate + "--format json --out sheet.json").errors, "sheet.json"));
  CHECK(shell.text("sheet.json") == "former");
}
