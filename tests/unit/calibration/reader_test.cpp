#include <paretopipe/core/error.hpp>
#include <paretopipe/render/render_data_sheet.hpp>

#include <functional>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

#include "perfect.hpp"

using namespace paretopipe;
using namespace paretopipe::calibration;
using namespace paretopipe::render;
using nlohmann::json;
using support::contains;
using support::message_of;

namespace {

const Cell kLoopbackCell{std::chrono::milliseconds(5), 200'000, false};
const Cell kEmulatedCell{std::chrono::milliseconds(5), 200'000, true};

/// With all that a sheet can have: errors within and beyond the promise, an unknown truth, a failure, a disturbance.
DataSheet a_sheet() {
  auto records = testing::measured_grid({kLoopbackCell, kEmulatedCell}, {.compute_ns = 31, .transfer_ns = 250'000});
  records[3].stages[1].usage.major_page_faults = 12;
  records.push_back(testing::make_failure(trial_of(kEmulatedCell, {}, {}, 3), "gone"));
  auto sheet = testing::sheet_of({kLoopbackCell, kEmulatedCell}, records);
  sheet.conditions.findings = {{"load", host::Level::warning, "7.5", "it takes time", "wait"}};
  return sheet;
}

std::string refusal(const json& document) {
  return message_of<UsageError>([&] { document.get<DataSheet>(); });
}

/// The refusal of a sheet of which one thing was changed.
std::string refusal_after(const std::function<void(json&)>& change) {
  json document = a_sheet();
  change(document);
  return refusal(document);
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
                            testing::sheet_of({kLoopbackCell}, {})}) {
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
    CHECK(contains(refusal_of_file(text), "this is no data sheet"));
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
  const auto edited = [](const std::function<void(json&)>& change) {
    return contains(refusal_after(change), "was it edited by hand?");
  };
  CHECK(edited([](json& sheet) { sheet["kept"] = true; }));
  CHECK(edited([](json& sheet) { sheet["relative_bound"] = 0.5; }));
  CHECK(edited([](json& sheet) { sheet["batches"] = 12.5; }));
  CHECK(edited([](json& sheet) { sheet["summary"][0]["worst_error_ns"] = 0; }));
  CHECK(edited([](json& sheet) { sheet["summary"][0]["kept"] = 17; }));
  CHECK(edited([](json& sheet) { sheet["cells"][1]["readings"][0]["error_ns"] = 1; }));
  CHECK(edited([](json& sheet) { sheet["cells"][1]["readings"][0]["kept"] = false; }));
  CHECK(edited([](json& sheet) { sheet["cells"][0]["network"] = "carrier pigeons"; }));
  for (const auto* field : {"compute_ns", "payload_bytes"}) {
    for (const auto& value : {json(0), json(-1), json(18446744073709551615U)}) {
      CHECK(edited([&](json& sheet) { sheet["cells"][1][field] = value; }));
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
