// Pages and plots of a real sweep.
#include <nlohmann/json.hpp>
#include <support/file_size_limit.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

std::string page_of(const Shell& shell, const std::string& more = "") {
  write_page(shell, "report out -o page.html " + more);
  return shell.text("page.html");
}

}  // namespace

TEST_CASE("report writes one page with all splits of the sweep", "[needs:charts]") {
  const auto page = page_of(swept());
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(contains(page, "\"label\":\"3/3 all local\""));
  CHECK(page.ends_with("</html>\n"));
}

TEST_CASE("the same records make the same page and the same plot", "[needs:charts]") {
  write_page(swept(), "report out -o needed.html");
  for (const std::string command : {"plot", "report"}) {
    const auto made = [&] {
      std::filesystem::remove(swept().folder() / "made.svg");
      swept().run(0, command + " out -o made.svg");
      return swept().text("made.svg");
    };
    const auto first = made();
    REQUIRE_FALSE(first.empty());
    CHECK(first == made());
  }
}

TEST_CASE("plot draws what was chosen") {
  swept().run(0, "plot out --objective payload --objective latency_p95 -o plot.svg");
  CHECK(swept().text("plot.svg").starts_with("<svg "));
  CHECK(contains(swept().text("plot.svg"), "payload (less is better)"));
  CHECK(contains(swept().run(1, "plot out --batch 7 -o none.svg").errors, "nothing to plot"));
}

TEST_CASE("plot draws a PNG where the program that it needs is installed, and else says which one to install",
          "[needs:rsvg_convert]") {
  const auto outcome = swept().run("plot out -o front.png");
  if (outcome.exit_code == 3) {
    CHECK(contains(outcome.errors, "install the package librsvg2-bin"));
    support::skip(outcome.errors);
  }
  REQUIRE(outcome.exit_code == 0);
  CHECK(swept().text("front.png").starts_with("\x89PNG\r\n\x1a\n"));
  CHECK(contains(swept().text("front.png"), "IEND"));
}

TEST_CASE("what plot cannot draw is refused before anything is read") {
  check_refused(swept(), "plot",
                {{"missing -o front.gif", ".svg or .png"},
                 {"out -o x.svg --objective payload", "objective"},
                 {"out -o x.svg --objective payload --objective throughput --objective latency_p50", "objective"}});
  if (std::filesystem::exists("/usr/sbin/rsvg-convert")) return;  // where programs are looked for whatever PATH says
  const support::ScopedVariable nothing_installed("PATH", "/nowhere");
  check_refused(swept(), "plot", {{"missing -o front.png", "install the package librsvg2-bin", 3}});
}

TEST_CASE("records that are missing, damaged or none make neither page nor plot", "[needs:charts]") {
  write_page(swept(), "report out -o needed.html");
  const Shell shell;
  shell.write("damaged.jsonl", "{\"schema\": 1}\n");
  shell.write("empty.jsonl", "");
  for (const auto* command : {"plot -o x.svg", "report -o x.html"}) {
    check_refused(shell, command,
                  {{"missing", "missing"}, {"damaged.jsonl", "damaged.jsonl"}, {"empty.jsonl", "empty.jsonl", 1}});
  }
}

TEST_CASE("a data sheet is shown: the one that is named, else the one beside the records", "[needs:charts]") {
  const SweptShell shell;
  // How far off this machine is decides nothing here.
  REQUIRE(shell.run("calibrate --quick --format json --out sheet.json").exit_code <= 1);
  CHECK_FALSE(contains(page_of(shell), "\"calibration\":"));
  CHECK(contains(page_of(shell, "--calibration sheet.json"), "\"calibration\":{\"kept\":"));
  shell.write("out/calibration.json", shell.text("sheet.json"));
  check_contains(page_of(shell), {"\"calibration\":{\"kept\":", "\"doubts\":[]"});  // one machine, one release
  shell.write("out/calibration.json", "{}");
  CHECK(contains(page_of(shell, "--calibration sheet.json"), "\"calibration\":"));
}

TEST_CASE("a data sheet that is missing, damaged or of a later release is refused, and no page is written",
          "[needs:charts]") {
  write_page(swept(), "report out -o needed.html");
  const SweptShell shell;
  shell.write("damaged.json", "{\"schema\": 1, \"kind\": \"calibra");
  shell.write("later.json", "{\"schema\": 2, \"kind\": \"calibration\"}");
  const auto refused = [&](const std::string& words, const std::string& name, const std::string& why) {
    const auto outcome = shell.run(2, "report out -o page.html " + words);
    check_contains(outcome.errors, {name, why});
    CHECK(occurrences(outcome.errors, "\n") == 1);
    CHECK_FALSE(shell.has("page.html"));
  };
  refused("--calibration nowhere.json", "nowhere.json", "No such file");
  refused("--calibration out", "out", "Is a directory");
  refused("--calibration damaged.json", "damaged.json", "calibrate --format json");
  refused("--calibration later.json", "later.json", "use a newer paretopipe");
  refused("--calibration out/records.jsonl", "records.jsonl", "line 2");
  shell.write("out/calibration.json", shell.text("damaged.json"));
  refused("", "calibration.json", "calibrate --format json");
  check_refused(shell, "report out", {{"-o out/calibration.json", "is what is read, and would be lost"}});
}

TEST_CASE("a trial that was measured again is told on the page and by frontier, and counts once", "[needs:charts]") {
  const SweptShell shell;
  auto slow = shell.records().front();
  slow.status = record::Status::invalid;
  slow.failure = record::Failure{"conditions", std::nullopt, "measured in a slow window, and again: <b>thieves</b>"};
  shell.write("out/records.jsonl", nlohmann::json(slow).dump() + '\n' + shell.text("out/records.jsonl"));
  CHECK(contains(shell.run("frontier out").output, "1 measurement made again"));
  const auto page = page_of(shell);
  check_contains(page, {"\"happened\":\"measured again\"", "thieves", "\"trials\":8,"});
  CHECK_FALSE(contains(page, "<b>thieves"));
}

TEST_CASE("a full disk leaves the earlier page and plot as they were") {
  const SweptShell shell;
  for (const auto* name : {"full.html", "full.svg"}) shell.write(name, "earlier");
  const support::FileSizeLimit limit(1000);
  shell.run(3, "plot out -o full.svg");
  shell.run(3, "report out -o full.html");
  CHECK(shell.text("full.svg") == "earlier");
  CHECK(shell.text("full.html") == "earlier");
}
