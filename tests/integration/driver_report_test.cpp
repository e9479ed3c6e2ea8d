#include <algorithm>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/file_size_limit.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using support::contains;
using testing::kSweep;
using testing::Shell;
using testing::operator+;

namespace {

/// A swept folder, once for all tests of this file that need no other.
Shell& swept() {
  static Shell shell;
  static const bool done = shell.run(kSweep).exit_code == 0;
  if (!done) throw std::runtime_error("the sweep failed");
  return shell;
}

std::string file(const Shell& shell, const char* name) {
  return support::read_file(shell.folder() / name);
}

/// Skips the test case where the driver was built without the charting library, which it must say.
void need_charts(const support::Outcome& outcome) {
  if (outcome.exit_code != 3) return;
  CHECK(contains(outcome.errors, "scripts/fetch-echarts"));
  support::skip(outcome.errors);
}

}  // namespace

TEST_CASE("report writes one page with all splits of the sweep", "[needs:charts]") {
  const auto outcome = swept().run({"report", "out", "-o", "page.html"});
  need_charts(outcome);
  REQUIRE(outcome.exit_code == 0);
  const auto page = file(swept(), "page.html");
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(contains(page, "\"label\":\"3/3 all local\""));
  CHECK(page.ends_with("</html>\n"));
}

TEST_CASE("the same records make the same page and the same plot", "[needs:charts]") {
  const auto made = [](const char* command) {
    const auto outcome = swept().run({command, "out", "-o", "made.svg"});
    need_charts(outcome);
    REQUIRE(outcome.exit_code == 0);
    auto text = file(swept(), "made.svg");
    std::filesystem::remove(swept().folder() / "made.svg");
    return text;
  };
  CHECK(made("plot") == made("plot"));
  CHECK(made("report") == made("report"));
}

TEST_CASE("plot draws what was chosen") {
  REQUIRE(swept()
              .run({"plot", "out", "--objective", "payload", "--objective", "latency_p95", "-o", "plot.svg"})
              .exit_code == 0);
  const auto svg = file(swept(), "plot.svg");
  CHECK(svg.starts_with("<svg "));
  CHECK(contains(svg, "payload (less is better)"));
  const auto none = swept().run({"plot", "out", "--batch", "7", "-o", "none.svg"});
  CHECK(none.exit_code == 1);
  CHECK(contains(none.errors, "nothing to plot"));
}

TEST_CASE("plot draws a PNG where the program that it needs is installed, and else says which one to install",
          "[needs:rsvg_convert]") {
  const auto outcome = swept().run({"plot", "out", "-o", "front.png"});
  if (outcome.exit_code == 3) {
    CHECK(contains(outcome.errors, "install the package librsvg2-bin"));
    support::skip(outcome.errors);
  }
  REQUIRE(outcome.exit_code == 0);
  const auto png = file(swept(), "front.png");
  CHECK(png.starts_with("\x89PNG\r\n\x1a\n"));
  CHECK(contains(png, "IEND"));
}

TEST_CASE("a picture that plot cannot write is refused before anything is read") {
  const Shell shell;
  const auto unknown = shell.run({"plot", "missing", "-o", "front.gif"});
  CHECK(unknown.exit_code == 2);
  CHECK(contains(unknown.errors, ".svg or .png"));
  CHECK(shell.folder_is_empty());
  if (std::filesystem::exists("/usr/sbin/rsvg-convert")) return;  // where programs are looked for whatever PATH says
  const support::ScopedVariable nothing_installed("PATH", "/nowhere");
  const auto no_program = shell.run({"plot", "missing", "-o", "front.png"});
  CHECK(no_program.exit_code == 3);
  CHECK(contains(no_program.errors, "install the package librsvg2-bin"));
  CHECK(shell.folder_is_empty());
}

TEST_CASE("one objective or three are not a plot") {
  CHECK(swept().run({"plot", "out", "--objective", "payload", "-o", "x.svg"}).exit_code == 2);
  CHECK(swept()
            .run({"plot", "out", "--objective", "payload", "--objective", "throughput", "--objective", "latency_p50",
                  "-o", "x.svg"})
            .exit_code == 2);
}

TEST_CASE("records that are missing or damaged make neither page nor plot", "[needs:charts]") {
  const Shell shell;
  support::write_file(shell.folder() / "damaged.jsonl", "{\"schema\": 1}\n");
  for (const auto* path : {"missing", "damaged.jsonl"}) {
    CHECK(shell.run({"plot", path, "-o", "x.svg"}).exit_code == 2);
    const auto outcome = shell.run({"report", path, "-o", "x.html"});
    need_charts(outcome);
    CHECK(outcome.exit_code == 2);
  }
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "x.svg"));
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "x.html"));
}

TEST_CASE("a data sheet is shown: the one that is named, else the one beside the records", "[needs:charts]") {
  const Shell shell;
  REQUIRE(shell.run(kSweep).exit_code == 0);
  const auto page = [&](const Shell::Words& words) {
    const auto outcome = shell.run(Shell::Words{"report", "out", "-o", "page.html"} + words);
    REQUIRE(outcome.exit_code == 0);
    return file(shell, "page.html");
  };
  const auto made = shell.run({"calibrate", "--quick", "--format", "json", "--out", "sheet.json"});
  REQUIRE(made.exit_code <= 1);  // how far off this machine is decides nothing here
  need_charts(shell.run({"report", "out", "-o", "page.html"}));
  CHECK_FALSE(contains(page({}), "\"calibration\":"));
  CHECK(contains(page({"--calibration", "sheet.json"}), "\"calibration\":{\"kept\":"));
  std::filesystem::copy(shell.folder() / "sheet.json", shell.folder() / "out" / "calibration.json");
  const auto beside = page({});
  CHECK(contains(beside, "\"calibration\":{\"kept\":"));
  CHECK(contains(beside, "\"doubts\":[]"));  // one machine, one release
  support::write_file(shell.folder() / "out" / "calibration.json", "{}");
  CHECK(contains(page({"--calibration", "sheet.json"}), "\"calibration\":"));
}

TEST_CASE("a data sheet that is missing, damaged or of a later release is refused, and no page is written",
          "[needs:charts]") {
  const Shell shell;
  std::filesystem::copy(swept().folder() / "out", shell.folder() / "out");
  support::write_file(shell.folder() / "damaged.json", "{\"schema\": 1, \"kind\": \"calibra");
  support::write_file(shell.folder() / "later.json", "{\"schema\": 2, \"kind\": \"calibration\"}");
  const auto refused = [&](const Shell::Words& words, const char* name, const char* why) {
    const auto outcome = shell.run(Shell::Words{"report", "out", "-o", "page.html"} + words);
    need_charts(outcome);
    CHECK(outcome.exit_code == 2);
    CHECK(contains(outcome.errors, name));
    CHECK(contains(outcome.errors, why));
    CHECK(std::count(outcome.errors.begin(), outcome.errors.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(shell.folder() / "page.html"));
  };
  refused({"--calibration", "nowhere.json"}, "nowhere.json", "No such file");
  refused({"--calibration", "out"}, "out", "Is a directory");
  refused({"--calibration", "damaged.json"}, "damaged.json", "calibrate --format json");
  refused({"--calibration", "later.json"}, "later.json", "use a newer paretopipe");
  refused({"--calibration", "out/records.jsonl"}, "records.jsonl", "line 2");
  std::filesystem::copy(shell.folder() / "damaged.json", shell.folder() / "out" / "calibration.json");
  refused({}, "calibration.json", "calibrate --format json");
}

TEST_CASE("a trial that was measured again is told on the page and by frontier, and counts once", "[needs:charts]") {
  const Shell shell;
  std::filesystem::copy(swept().folder() / "out", shell.folder() / "out");
  auto slow = shell.records().front();
  slow.status = record::Status::invalid;
  slow.failure = record::Failure{"conditions", std::nullopt, "measured in a slow window, and again: <b>thieves</b>"};
  const auto line = nlohmann::json(slow).dump() + '\n';
  support::write_file(shell.records_file(), line + file(shell, "out/records.jsonl"));
  CHECK(contains(shell.run({"frontier", "out"}).output, "1 measurement made again"));
  const auto outcome = shell.run({"report", "out", "-o", "page.html"});
  need_charts(outcome);
  const auto page = file(shell, "page.html");
  CHECK(contains(page, "\"happened\":\"measured again\""));
  CHECK(contains(page, "thieves"));
  CHECK_FALSE(contains(page, "<b>thieves"));
  CHECK(contains(page, "\"trials\":8,"));
}

TEST_CASE("records without a trial are a negative answer", "[needs:charts]") {
  const Shell shell;
  support::write_file(shell.folder() / "empty.jsonl", "");
  CHECK(shell.run({"plot", "empty.jsonl", "-o", "x.svg"}).exit_code == 1);
  const auto outcome = shell.run({"report", "empty.jsonl", "-o", "x.html"});
  need_charts(outcome);
  CHECK(outcome.exit_code == 1);
}

TEST_CASE("a full disk leaves the earlier page and plot as they were") {
  auto& shell = swept();
  for (const auto* name : {"full.html", "full.svg"}) support::write_file(shell.folder() / name, "earlier");
  const support::FileSizeLimit limit(1000);
  CHECK(shell.run({"plot", "out", "-o", "full.svg"}).exit_code == 3);
  CHECK(shell.run({"report", "out", "-o", "full.html"}).exit_code == 3);
  CHECK(file(shell, "full.svg") == "earlier");
  CHECK(file(shell, "full.html") == "earlier");
}
