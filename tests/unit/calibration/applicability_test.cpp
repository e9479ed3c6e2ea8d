#include <paretopipe/analysis/calibration/data_sheet.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "../record/records.hpp"

using namespace paretopipe;
using calibration::doubts;
using support::contains;

namespace {

/// Of the machine and the release that the records are of.
calibration::DataSheet own_sheet() {
  calibration::DataSheet sheet;
  sheet.provenance = testing::ok_record().provenance;
  sheet.conditions.host = testing::a_stage(0).host;
  return sheet;
}

std::vector<record::TrialRecord> records() {
  return {testing::ok_record(0), testing::ok_record(1), testing::failed_record(2)};
}

}  // namespace

TEST_CASE("of a sheet of the same machine nothing is doubted, not even after a reboot") {
  auto sheet = own_sheet();
  CHECK(doubts(sheet, records()).empty());
  sheet.conditions.host.boot_id = "another";
  sheet.conditions.host.time_namespace = "time:[1]";
  CHECK(doubts(sheet, records()).empty());
}

TEST_CASE("a sheet of another machine says nothing of the trials") {
  for (const auto change : {+[](host::HostContext& host) { host.hostname = "pi"; },
                            +[](host::HostContext& host) { host.cpu_model = "Cortex-A72"; },
                            +[](host::HostContext& host) { host.cpu_count = 2; }}) {
    auto sheet = own_sheet();
    change(sheet.conditions.host);
    const auto sentences = doubts(sheet, records());
    REQUIRE(sentences.size() == 1);
    CHECK(contains(sentences[0], "and the trials ran on host (Some CPU, 4 CPUs): it says nothing of them."));
  }
}

TEST_CASE("a machine that the sheet leaves out is named once") {
  auto measured = records();
  for (auto& record : measured) {
    if (!record.stages.empty()) record.stages[1].host.hostname = "pi";
  }
  CHECK(doubts(own_sheet(), measured) ==
        std::vector<std::string>{"Trials ran on pi (Some CPU, 4 CPUs), too: this sheet says nothing of it."});
}

TEST_CASE("what changed of the machine is told, each change once") {
  auto sheet = own_sheet();
  sheet.conditions.host.kernel = "Linux 5.10";
  sheet.conditions.host.governor.reset();
  const auto sentences = doubts(sheet, records());
  REQUIRE(sentences.size() == 1);
  CHECK(
      sentences[0] ==
      "The machine has changed: kernel was Linux 5.10 for the sheet, and Linux 6.1 for trials; frequency governor was "
      "unknown for the sheet, and performance for trials.");
}

TEST_CASE("a sheet of another release is doubted, and one of a release among the records' is not") {
  auto sheet = own_sheet();
  sheet.provenance.version = "0.2.0";
  auto measured = records();
  CHECK(doubts(sheet, measured) ==
        std::vector<std::string>{"The sheet is of paretopipe 0.2.0, and the trials were run by 0.1.0."});
  measured[0].provenance.version = "0.2.0";
  CHECK(doubts(sheet, measured).empty());
}

TEST_CASE("records that say nothing of themselves raise no doubt") {
  CHECK(doubts(own_sheet(), {}).empty());
  CHECK(doubts(own_sheet(), std::vector{testing::failed_record()}).empty());
}
