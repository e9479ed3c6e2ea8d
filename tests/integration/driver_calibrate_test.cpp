// `paretopipe calibrate` on a real pipeline. How large the errors are is the machine's business: no test depends on it.
#include <csignal>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/fault_once.hpp>
#include <support/file_size_limit.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

namespace {

const Shell::Words kCalibrate{"calibrate", "--quick"};
constexpr std::size_t kCells = 8;

}  // namespace

TEST_CASE("a calibration's data sheet has errors of every cell, and the exit code is its verdict") {
  const Shell shell;
  const auto run = shell.run(kCalibrate + Shell::Words{"--format", "json", "--out", "sheet.json"});
  INFO(run.errors);
  const auto sheet = nlohmann::json::parse(support::read_file(shell.folder() / "sheet.json"));
  CHECK(run.exit_code == (sheet.at("kept").get<bool>() ? 0 : 1));
  CHECK(contains(run.output, "sheet.json"));
  CHECK(contains(run.output, "errors are within the promise"));
  CHECK(sheet.at("schema") == 1);
  CHECK(sheet.at("provenance").at("command_line").at(1) == "calibrate");
  CHECK_FALSE(sheet.at("host").at("kernel").get<std::string>().empty());
  REQUIRE(sheet.at("cells").size() == kCells);
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
  const auto run = shell.run(kCalibrate);
  INFO(run.errors);
  CHECK(run.exit_code == 1);
  CHECK(contains(run.output, "MISSED"));
  CHECK(contains(run.output, "killed by signal 9"));
  CHECK(contains(run.output, "have no result"));
}

TEST_CASE("a calibration that is interrupted writes nothing and ends its stages") {
  const Shell shell;
  const support::FaultOnce fault("hang@0-1@4");
  auto calibration = shell.start(kCalibrate + Shell::Words{"--out", "sheet.txt"});
  REQUIRE(support::wait_until_written(fault.marker()));
  const auto stages = support::watch(support::children_of(calibration.pid()));
  REQUIRE(stages.size() == 2);
  ::kill(calibration.pid(), SIGINT);
  const auto outcome = calibration.wait();
  CHECK(outcome.exit_code == 130);
  CHECK(contains(outcome.errors, "nothing was written"));
  CHECK(support::all_ended(stages));
  CHECK(shell.folder_is_empty());
}

TEST_CASE("a calibration that cannot be is refused before anything is measured") {
  const Shell shell;
  const auto no_folder = shell.run({"calibrate", "--out", "nowhere/sheet.json"});
  CHECK(no_folder.exit_code == 2);
  CHECK(contains(no_folder.errors, "there is no folder nowhere"));
  CHECK(shell.run({"calibrate", "--repeat", "0"}).exit_code == 2);
  CHECK(shell.run({"calibrate", "--format", "xml"}).exit_code == 2);
  const support::ScopedVariable no_stage("PARETOPIPE_STAGE", "/nowhere/stage");
  CHECK(shell.run(kCalibrate).exit_code == 3);
  CHECK(shell.folder_is_empty());
}

TEST_CASE("a disk that is full costs the data sheet, and says so") {
  const Shell shell;
  support::write_file(shell.folder() / "sheet.json", "former");
  // Less than a data sheet; enough for what the program says, which goes to a file, too: of every trial that a busy
  // machine spoils, a sentence.
  const support::FileSizeLimit full(6000);
  const auto run = shell.run(kCalibrate + Shell::Words{"--format", "json", "--out", "sheet.json"});
  CHECK(run.exit_code == 3);
  CHECK(contains(run.errors, "sheet.json"));
  CHECK(support::read_file(shell.folder() / "sheet.json") == "former");
}
