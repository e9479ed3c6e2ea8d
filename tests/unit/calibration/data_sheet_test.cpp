#include <paretopipe/analysis/calibration/data_sheet.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/render/render_data_sheet.hpp>

#include <algorithm>
#include <functional>
#include <sstream>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

#include "../record/records.hpp"
#include "perfect.hpp"

using namespace paretopipe;
using namespace paretopipe::calibration;
using namespace paretopipe::render;
using support::contains;
using testing::measured;
using testing::sheet_of;

namespace {

const Cell kLoopback{std::chrono::milliseconds(5), 200'000, false};
const Cell kEmulated{std::chrono::milliseconds(5), 200'000, true};
const Cell kLong{std::chrono::milliseconds(50), 4'000, true};

const Reading& reading(const DataSheet& sheet, const std::string& name, std::size_t cell = 0) {
  for (const auto& reading : sheet.cells.at(cell).readings) {
    if (reading.quantity->name == name) return reading;
  }
  throw std::logic_error("no such quantity");
}

DataSheet one_cell(const Cell& cell, const testing::Offsets& offsets) {
  return sheet_of({cell}, {measured(cell, 0, offsets)});
}

}  // namespace

TEST_CASE("an instrument without error has a data sheet that says so") {
  const auto sheet = sheet_of(full_grid(), testing::measured_grid(full_grid()));
  CHECK(sheet.kept());
  const auto summary = sheet.summary();
  CHECK(summary.size() == quantities().size());
  for (const auto& quantity : summary) {
    INFO(quantity.quantity->name);
    CHECK(quantity.kept == quantity.cells);
    CHECK(std::abs(quantity.worst_error_ns) <= 2 * testing::kWait);
  }
  CHECK(contains(verdict(sheet), "kept: 117 of 117"));
}

TEST_CASE("truth is the model's and the emulated network's: d + B/r with the frame's header") {
  const auto sheet = one_cell(kEmulated, {});
  CHECK(reading(sheet, "transfer").error->truth_ns == 20e6 + 200'064 * 16);
  CHECK(reading(sheet, "transfer_back").error->truth_ns == 20e6 + 104 * 16);
  CHECK(reading(sheet, "compute_stage1").error->truth_ns == 5e6);
  CHECK(reading(sheet, "latency").error->truth_ns == 2 * 5e6 + 40e6 + 200'168 * 16);
  CHECK(reading(sheet, "period").error->truth_ns == 5e6);
  CHECK(reading(sheet, "overhead").error->truth_ns == 0);
  const Cell slow_link{std::chrono::milliseconds(2), 2'000'000, true};
  CHECK(reading(one_cell(slow_link, {}), "period").error->truth_ns == 2'000'064 * 16);
}

TEST_CASE("what the bare loopback takes is measured but not judged") {
  const auto sheet = one_cell(kLoopback, {});
  for (const auto* unknown : {"latency", "transfer", "transfer_back"}) {
    CHECK_FALSE(reading(sheet, unknown).error);
    CHECK(reading(sheet, unknown).measured_ns.size() == 1);
  }
  CHECK(reading(sheet, "latency_less_transfers").error->truth_ns == 1e7);
  CHECK(reading(sheet, "period").error->truth_ns == 5e6);
  // Slower than a block, it might set the pace.
  const auto slow = sheet_of({kLoopback}, {measured(kLoopback, 0, {}, 6'000'000)});
  CHECK_FALSE(reading(slow, "period").error);
  CHECK(slow.summary().size() == quantities().size() - 4);
}

TEST_CASE("an error beyond 1 % and 100 us is not kept, on either side") {
  const auto kept = [](const char* quantity, const Cell& cell, const testing::Offsets& offsets) {
    return reading(one_cell(cell, offsets), quantity).error->kept();
  };
  CHECK(kept("compute_stage0", kEmulated, {.compute_ns = 100'000}));
  CHECK_FALSE(kept("compute_stage0", kEmulated, {.compute_ns = 100'001}));
  CHECK_FALSE(kept("compute_stage1", kEmulated, {.compute_ns = -100'001}));
  CHECK(kept("compute_stage0", kLong, {.compute_ns = 500'000}));
  CHECK_FALSE(kept("compute_stage0", kLong, {.compute_ns = 500'001}));
  CHECK_FALSE(kept("transfer", kEmulated, {.transfer_ns = 240'001}));
  CHECK_FALSE(kept("latency", kEmulated, {.transfer_ns = 600'000}));
  CHECK_FALSE(kept("period", kLoopback, {.period_ns = 100'001}));
  CHECK_FALSE(one_cell(kEmulated, {.transfer_ns = 240'001}).kept());
}

TEST_CASE("the median repetition decides, and the worst is told") {
  const auto sheet = sheet_of(
      {kEmulated}, {measured(kEmulated, 0, {.compute_ns = 10}), measured(kEmulated, 1, {.compute_ns = -900'000}),
                    measured(kEmulated, 2, {.compute_ns = 30})});
  CHECK(reading(sheet, "compute_stage0").error->median_ns == 10.0);
  CHECK(reading(sheet, "compute_stage0").error->worst_ns == -900'000.0);
  CHECK(sheet.kept());
}

TEST_CASE("the summary names the worst cell of a quantity") {
  const auto sheet = sheet_of({kLoopback, kEmulated, kLong},
                              {measured(kLoopback, 0, {.compute_ns = 10}),
                               measured(kEmulated, 0, {.compute_ns = -7000}), measured(kLong, 0, {.compute_ns = 500})});
  const auto summary = sheet.summary();
  const auto stage0 = std::find_if(summary.begin(), summary.end(),
                                   [](const auto& one) { return one.quantity->name == "compute_stage0"; });
  REQUIRE(stage0 != summary.end());
  CHECK(stage0->cells == 3);
  CHECK(stage0->worst_error_ns == -7000);
  CHECK(stage0->median_error_ns == 500);
  CHECK(stage0->worst_cell == kEmulated);
}

TEST_CASE("a trial without a result, or over another network than asked for, is a failure of its cell") {
  auto failed = testing::make_failure(trial_of(kEmulated, {}, {}, 0), "killed | by signal 9");
  auto invalid = measured(kLoopback, 0, {});
  invalid.status = record::Status::invalid;
  invalid.failure = record::Failure{"network", std::nullopt, "the rate is off"};
  const auto sheet = sheet_of({kLoopback, kEmulated, kLong}, {failed, invalid});
  CHECK_FALSE(sheet.kept());
  CHECK(sheet.summary().empty());
  CHECK(sheet.cells[0].failures == std::vector<std::string>{"network: the rate is off"});
  CHECK(sheet.cells[1].failures == std::vector<std::string>{"run, stage 1: killed | by signal 9"});
  CHECK(sheet.cells[2].failures == std::vector<std::string>{"it was not measured"});
  CHECK(contains(render_text(sheet), "killed | by signal 9"));
  CHECK(contains(render_markdown(sheet), "killed \\| by signal 9"));
  CHECK(contains(verdict(sheet), "MISSED: 0 of 0 errors are within the promise; 3 trial(s) have no result"));
  CHECK(nlohmann::json::parse(render_json(sheet))["kept"] == false);
  auto records = testing::measured_grid({kEmulated});
  records.push_back(testing::make_failure(trial_of(kEmulated, {}, {}, 3), "gone"));
  const auto one_failed = sheet_of({kEmulated}, records);
  CHECK(reading(one_failed, "latency").error->kept());
  CHECK_FALSE(one_failed.kept());  // though the errors are small
}

TEST_CASE("a machine that was not at rest is reported with the errors") {
  auto records = testing::measured_grid({kLoopback, kEmulated});
  CHECK_FALSE(contains(render_text(sheet_of({kLoopback, kEmulated}, records)), "disturbed"));
  records[3].stages[1].usage.major_page_faults = 12;  // the second repetition over the emulated network
  records[5].stages[0].usage.major_page_faults = 1;
  auto sheet = sheet_of({kLoopback, kEmulated}, records);
  sheet.conditions.findings = {{"load", host::Level::warning, "7.5 over\x1b[2J the last minute", "it takes time", ""}};
  CHECK(sheet.cells[0].disturbances.empty());
  CHECK(sheet.cells[1].disturbances.size() == 2);
  CHECK(reading(sheet, "latency", 1).measured_ns.size() == 3);  // it counts all the same
  for (const auto& text : {render_text(sheet), render_markdown(sheet)}) {
    CHECK(contains(text, "7.5 over?"));
    CHECK(contains(text, "2 trial(s) were disturbed"));
    CHECK(contains(text, "5.00 ms, 200000 B, emulated, repetition 2: stage 1 waited 12 times for pages from disk"));
  }
  CHECK(nlohmann::json::parse(render_json(sheet))["cells"][1]["disturbances"].size() == 2);
}

TEST_CASE("the data sheet's JSON has what a report needs, and no number that is not one") {
  const auto sheet = sheet_of({kLoopback, kEmulated}, testing::measured_grid({kLoopback, kEmulated}));
  const auto text = render_json(sheet);
  CHECK_FALSE(contains(text, "null"));
  const auto json = nlohmann::json::parse(text);
  CHECK(json.at("schema") == 1);
  CHECK(json.at("kind") == "calibration");
  CHECK(json.at("kept") == true);
  CHECK(json.at("cells").size() == 2);
  CHECK(json.at("cells")[1].at("network") == "emulated");
  CHECK(json.at("summary").size() == quantities().size());
  for (const auto& cell : json.at("cells")) {
    CHECK(cell.at("readings").size() == quantities().size());
    for (const auto& reading : cell.at("readings")) {
      CHECK(reading.at("measured_ns").size() == 3);
      CHECK(reading.contains("truth_ns") == reading.contains("kept"));
    }
  }
}

TEST_CASE("every row of the data sheet's tables has a cell for every heading, and marks what is not kept") {
  const auto sheet = sheet_of({kLoopback, kEmulated},
                              {measured(kLoopback, 0, {}), measured(kEmulated, 0, {.transfer_ns = 2'000'000})});
  const auto text = render_text(sheet);
  CHECK(contains(text, "+2.00 ms !"));
  CHECK(contains(text, "MISSED"));
  std::ptrdiff_t bars = 0;
  std::istringstream lines(render_markdown(sheet));
  for (std::string line; std::getline(lines, line);) {
    const auto found = std::count(line.begin(), line.end(), '|');
    if (bars > 0 && found > 0) CHECK(found == bars);
    bars = found;
  }
}

using nlohmann::json;
using support::message_of;

namespace {

/// A sheet with all that it can have: errors within and beyond the promise, an unknown truth, a failure, a disturbance.
DataSheet a_sheet() {
  auto records = testing::measured_grid({kLoopback, kEmulated}, {.compute_ns = 31, .transfer_ns = 250'000});
  records[3].stages[1].usage.major_page_faults = 12;
  records.push_back(testing::make_failure(trial_of(kEmulated, {}, {}, 3), "gone"));
  auto sheet = testing::sheet_of({kLoopback, kEmulated}, records);
  sheet.conditions.findings = {{"load", host::Level::warning, "7.5", "it takes time", "wait"}};
  return sheet;
}

/// The refusal of a sheet of which one thing was changed.
std::string refusal_after(const std::function<void(json&)>& change) {
  json document = a_sheet();
  change(document);
  return message_of<UsageError>([&] { document.get<DataSheet>(); });
}

std::string refusal_of_file(const std::string& text) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "sheet.json";
  support::write_file(file, text);
  const auto message = message_of<UsageError>([&] { read_data_sheet(file); });
  CHECK(contains(message, file.string()));
  CHECK_FALSE(contains(message, "\n"));
  return message;
}

}  // namespace

TEST_CASE("a data sheet that is read back says the same in every format") {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "sheet.json";
  for (const auto& sheet : {a_sheet(), testing::sheet_of(full_grid(), testing::measured_grid(full_grid())),
                            testing::sheet_of({kLoopback}, {})}) {
    support::write_file(file, render_json(sheet));
    const auto read = read_data_sheet(file);
    CHECK(render_json(read) == render_json(sheet));
    CHECK(render_text(read) == render_text(sheet));
    CHECK(read.kept() == sheet.kept());
  }
}

TEST_CASE("a file that is no data sheet is refused by name, with how to get one") {
  const auto whole = render_json(a_sheet());
  for (const auto& text : {std::string(), std::string("network    blocks\n"), whole.substr(0, whole.size() / 2),
                           whole.substr(0, whole.size() - 3), whole + whole}) {
    CHECK(contains(refusal_of_file(text), "paretopipe calibrate --format json"));
  }
  for (const auto* text :
       {"[]", "3", "{}", R"({"schema": 1, "id": "0123456789abcdef"})", R"({"schema": 1, "kind": 7})"}) {
    CHECK(contains(refusal_of_file(text), "this is not a data sheet"));
  }
  CHECK(contains(message_of<UsageError>([] { read_data_sheet("/nowhere/sheet.json"); }), "/nowhere/sheet.json"));
}

TEST_CASE("a data sheet of another schema is refused") {
  CHECK(contains(refusal_after([](json& sheet) { sheet["schema"] = 2; }), "use a newer paretopipe"));
  CHECK(contains(refusal_after([](json& sheet) { sheet["schema"] = 0; }), "measure again"));
  CHECK(contains(refusal_after([](json& sheet) { sheet.erase("schema"); }), "not a paretopipe data sheet"));
}

TEST_CASE("a data sheet that lacks a field, or has one of the wrong type, is refused") {
  for (const auto* field : {"provenance", "host", "findings", "batches", "warmup", "repetitions", "cpus", "cells"}) {
    CAPTURE(field);
    CHECK(contains(refusal_after([&](json& sheet) { sheet.erase(field); }),
                   "lacks a field or has one of the wrong type"));
    CHECK_FALSE(contains(refusal_after([&](json& sheet) { sheet[field] = "x"; }), "nothing was thrown"));
  }
  for (const auto* field : {"network", "compute_ns", "payload_bytes", "readings"}) {
    CAPTURE(field);
    CHECK(contains(refusal_after([&](json& sheet) { sheet["cells"][1].erase(field); }), "lacks a field"));
  }
  CHECK(contains(refusal_after([](json& sheet) {
                   sheet["cells"][1]["readings"][0]["measured_ns"] = {true, 1, 2};
                 }),
                 "has one of the wrong type"));
  for (const auto* field : {"quantity", "measured_ns", "truth_ns", "worst_error_ns"}) {
    CAPTURE(field);
    CHECK(
        contains(refusal_after([&](json& sheet) { sheet["cells"][1]["readings"][0].erase(field); }), "lacks a field"));
  }
}

TEST_CASE("a data sheet that was edited by hand is refused where it contradicts itself") {
  using Values = std::vector<json>;
  for (const auto& [place, values] : {std::pair("/kept", Values{true}),
                                      {"/relative_bound", {0.5}},
                                      {"/batches", {12.5}},
                                      {"/summary/0/worst_error_ns", {0}},
                                      {"/summary/0/kept", {17}},
                                      {"/cells/1/readings/0/error_ns", {1}},
                                      {"/cells/1/readings/0/kept", {false}},
                                      {"/cells/0/network", {"carrier pigeons"}},
                                      {"/cells/1/compute_ns", {0, -1, 18446744073709551615U}},
                                      {"/cells/1/payload_bytes", {0, -1, 18446744073709551615U}}}) {
    for (const auto& value : values) {
      CAPTURE(place, value);
      CHECK(contains(refusal_after([&, at = place](json& sheet) { sheet.at(json::json_pointer(at)) = value; }),
                     "was it edited by hand?"));
    }
  }
}

TEST_CASE("words that this release does not know are refused, and fields that it does not know are left alone") {
  CHECK(contains(refusal_after([](json& sheet) { sheet["cells"][0]["readings"][0]["quantity"] = "charm"; }),
                 "quantity \"charm\" is unknown; use a newer paretopipe"));
  CHECK(contains(refusal_after([](json& sheet) { sheet["findings"][0]["level"] = "dire"; }), "\"dire\""));
  json later = a_sheet();
  later["later"] = {1, 2};
  later["cells"][0]["later"] = "x";
  CHECK_NOTHROW(later.get<DataSheet>());
}

using calibration::doubts;

namespace {

/// A sheet of the machine and the release that the records come from.
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
  // Nor do records that say nothing of themselves raise a doubt.
  CHECK(doubts(own_sheet(), {}).empty());
  CHECK(doubts(own_sheet(), std::vector{testing::failed_record()}).empty());
}
