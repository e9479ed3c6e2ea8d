#include <paretopipe/render/render_comparison.hpp>

#include <algorithm>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/golden.hpp>
#include <support/message_of.hpp>

#include "sweeps.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using nlohmann::json;
using support::contains;
using support::golden;

namespace {

const std::vector<std::string> kRules{"throughput < -5%", "latency_p50 > +1000%"};

compare::Comparison a_regression(bool strict = false) {
  auto asked = request({"latency_p50", "throughput"}, kRules);
  asked.strict = strict;
  return comparison_of(repetitions(kBefore, 3) + repetitions({10'000, 10'001}, 5) + repetitions(kBefore, 7),
                       repetitions(kSlower, 3) + repetitions({10'000, 10'001}, 5) + repetitions(kBefore, 10), asked);
}

std::string all_formats(const compare::Comparison& comparison) {
  return render::render_text(comparison, {}) + render::render_markdown(comparison) + render::render_json(comparison) +
         render::render_junit(comparison);
}

compare::Comparison with_model(const std::string& name) {
  auto base = repetitions(kBefore);
  auto now = repetitions(kSlower);
  for (auto* records : {&base, &now}) {
    for (auto& record : *records) record.trial.model = name;
  }
  return comparison_of(base, now, request({"throughput"}, {"throughput < -5%"}));
}

}  // namespace

TEST_CASE("text says the conclusion first, then rules, changes, findings and notes") {
  const auto text = render::render_text(a_regression(), {});
  CHECK(text.starts_with(
      "Regression: 1 of 6 checks is broken, 4 could not be decided, 1 configuration of the base was not "
      "measured again.\n"));
  CHECK(contains(text, "throughput < -5%         0       1          2"));
  CHECK(contains(text, "broken: throughput < -5% at split 3/10: throughput went from"));
  CHECK(contains(text, "past the threshold and beyond noise"));
  CHECK(contains(text, "p = 0.0079 (0.032 corrected for 3 checks): past the threshold and beyond noise"));
  CHECK(contains(text, "2 repetitions against 2 are too few to tell that from noise in 3 checks: it takes 5"));
  CHECK(contains(text, "undecided: throughput < -5% in all configurations together: throughput changed by"));
  CHECK(contains(text, "only in base.jsonl: resnet18"));
  CHECK(contains(text, "split 7/10"));
  CHECK(contains(text, "only in new.jsonl: resnet18"));
  CHECK(contains(text, "split 10/10 all local"));
  CHECK(contains(text, "worse"));
  CHECK(contains(text, "too few repetitions"));
}

TEST_CASE("every format is what its golden file says") {
  const auto comparison = a_regression();
  const auto text = render::render_text(comparison, {.width = 100, .colour = false, .unicode = true});
  CHECK(text == golden("compare/comparison.txt", text));
  const auto markdown = render::render_markdown(comparison);
  CHECK(markdown == golden("compare/comparison.md", markdown));
  const auto document = render::render_json(comparison);
  CHECK(document == golden("compare/comparison.json", document));
  const auto junit = render::render_junit(comparison);
  CHECK(junit == golden("compare/comparison.xml", junit));
}

TEST_CASE("without rules the conclusion counts what changed") {
  const auto text =
      render::render_text(comparison_of(repetitions(kBefore), repetitions(kSlower), request({"throughput"})), {});
  CHECK(text.starts_with("1 worse and 0 better, beyond noise, in 1 configuration; no rule was given.\n"));
}

TEST_CASE("different machines are said, equal ones are not") {
  auto base = repetitions(kBefore);
  auto now = repetitions(kBefore);
  const auto asked = request({"throughput"});
  for (auto& record : now) record.stages[0].host.hostname = "other";
  CHECK(contains(render::render_text(comparison_of(base, now, asked), {}), "a change may be the machine's"));
  CHECK_FALSE(contains(render::render_text(comparison_of(base, base, asked), {}), "machine's"));
}

TEST_CASE("repetitions that do not count are said") {
  auto now = repetitions(kAlike);
  now[0] = make_failure(make_trial(3, 0), "killed");
  const auto text = render::render_text(comparison_of(repetitions(kBefore), now, request({"throughput"})), {});
  CHECK(contains(text, "1 of 5 repetitions does not count in new.jsonl: resnet18"));
}

TEST_CASE("the conclusion says what was not measured again, and that a strict request does not pass for it") {
  const auto base = repetitions(kBefore, 3) + repetitions(kBefore, 5);
  auto asked = request({"throughput"}, {"throughput < -5%"});
  const auto first_words = [&] { return render::render_text(comparison_of(base, repetitions(kAlike, 3), asked), {}); };
  CHECK(first_words().starts_with(
      "No regression: 0 of 1 check is broken, 1 configuration of the base was not measured again.\n"));
  asked.strict = true;
  CHECK(first_words().starts_with("Not passed: 0 of 1 check is broken, 1 configuration"));
}

TEST_CASE("records that do not count are of no other machine") {
  auto now = repetitions(kBefore);
  for (auto& record : now) record = make_failure(record.trial, "killed");
  const auto text = render::render_text(comparison_of(repetitions(kBefore), now, request({"throughput"})), {});
  CHECK_FALSE(contains(text, "machine's"));
  CHECK(contains(text, "0 worse and 0 better, beyond noise, in 1 configuration, and 1 without a new result"));
}

TEST_CASE("Markdown has the same as tables and lists, broken rules and worse rows in bold") {
  const auto markdown = render::render_markdown(a_regression());
  CHECK(markdown.starts_with(
      "**Regression: 1 of 6 checks is broken, 4 could not be decided, 1 configuration of the base was "
      "not measured again.**\n"));
  CHECK(contains(markdown, "| fails on | held | broken | undecided |\n| --- | ---: | ---: | ---: |\n"));
  CHECK(contains(markdown, "| **throughput \\< -5%** | **0** | **1** | **2** |"));
  CHECK(contains(markdown, "- broken: throughput \\< -5% at split 3/10"));
  CHECK(contains(markdown, "### resnet18, batch 8"));
  CHECK(contains(markdown, "| **3/10** | **throughput** |"));
}

TEST_CASE("JSON has every number, and no key for what has no value") {
  const auto document = json::parse(render::render_json(a_regression()));
  CHECK(document["regression"] == true);
  CHECK(document["base"]["path"] == "base.jsonl");
  REQUIRE(document["configurations"].size() == 2);
  const auto& configuration = document["configurations"][0];
  CHECK(configuration["split_points"] == std::vector{3});
  CHECK(configuration["settings"]["batch"] == 8);
  CHECK(configuration["new_repetitions"] == json{{"ok", 5}, {"failed", 0}, {"invalid", 0}});
  const auto& throughput = configuration["changes"][1];
  CHECK(throughput["metric"] == "throughput");
  CHECK(throughput["ratio"].get<double>() ==
        throughput["new_median"].get<double>() / throughput["base_median"].get<double>());
  CHECK(throughput["ratio_interval"].size() == 2);
  CHECK(throughput["p_value"].get<double>() == Approx(2.0 / 252));
  CHECK(throughput["p_value_is_exact"] == true);
  CHECK(throughput["cliffs_delta"] == -1.0);
  CHECK(throughput["verdict"] == "worse");
  CHECK(configuration["checks"][0]["outcome"] == "broken");
  CHECK(configuration["checks"][1]["outcome"] == "held");
  CHECK(document["only_in_base"][0]["split_points"] == std::vector{7});
  CHECK(document["only_in_new"][0]["split_points"] == std::vector{10});
  CHECK_FALSE(contains(document.dump(), "null"));
}

TEST_CASE("JUnit XML has a testcase for every rule and configuration: passed, failed or skipped") {
  const auto xml = render::render_junit(a_regression());
  CHECK(xml.starts_with(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites tests=\"6\" failures=\"1\" errors=\"0\" skipped=\"4\">\n"
      "  <testsuite name=\"paretopipe compare\" tests=\"6\" failures=\"1\" errors=\"0\" skipped=\"4\">\n"));
  CHECK(contains(xml,
                 "name=\"split 3/10: throughput &lt; -5%\"><failure type=\"broken\" message=\"throughput went from"));
  CHECK(contains(xml, "name=\"split 3/10: latency_p50 &gt; +1000%\"></testcase>"));
  CHECK(contains(xml, "name=\"split 5/10: throughput &lt; -5%\"><skipped message=\""));
  CHECK(xml.ends_with("  </testsuite>\n</testsuites>\n"));
}

TEST_CASE("in a strict request JUnit's undecided testcases fail") {
  const auto xml = render::render_junit(a_regression(true));
  CHECK(contains(xml, "tests=\"6\" failures=\"5\" errors=\"0\" skipped=\"0\""));
  CHECK(contains(xml, "<failure type=\"undecided\""));
  CHECK_FALSE(contains(xml, "<skipped"));
}

TEST_CASE("a hostile name leaves its place in no format") {
  const std::string hostile = "a\"b'<script>&amp;]]>|`x`\x1b[2J\n\x01\xef\xbf\xbf\xef\xbf\xbe";
  const auto comparison = with_model(hostile);
  const auto xml = render::render_junit(comparison);
  CHECK(contains(xml, "classname=\"a&quot;b&apos;&lt;script&gt;&amp;amp;]]&gt;|`x`?[2J????, batch 8"));
  const auto markdown = render::render_markdown(comparison);
  CHECK(contains(markdown, "\\<script\\>\\&amp;\\]\\]\\>\\|\\`x\\`?\\[2J"));
  CHECK(json::parse(render::render_json(comparison))["configurations"][0]["settings"]["model"] == hostile);
  for (const char control : {'\x1b', '\x01'}) {
    for (const auto& text : {render::render_text(comparison, {}), markdown, xml, render::render_json(comparison)}) {
      CHECK(text.find(control) == std::string::npos);
    }
  }
}

TEST_CASE("no format writes NaN or infinity, not even where the base has nothing") {
  auto base = repetitions(kBefore);
  for (auto& record : base) record.links[0].payload_bytes = 0;
  const auto comparison =
      comparison_of(base, repetitions(kBefore), request({"payload", "throughput"}, {"payload > +5%"}));
  auto text = all_formats(comparison);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const auto* word : {"nan", "inf ", "inf%", "infinity", "null"}) {
    CAPTURE(word);
    CHECK_FALSE(contains(text, word));
  }
  CHECK(comparison.regression());
}

TEST_CASE("every format says what was measured in turns, and what all configurations together make of it") {
  const std::vector<std::int64_t> before{10'000, 10'100, 10'200, 10'300, 10'400, 10'500, 10'600, 10'700};
  auto slower = before;
  for (auto& us : slower) us += us / 5;
  auto base = repetitions(before, 3) + repetitions(before, 5), now = repetitions(slower, 3) + repetitions(slower, 5);
  put_side_by_side(base, now);
  const auto comparison = comparison_of(base, now, request({"throughput"}, {"throughput < -5%"}));
  CHECK(contains(render::render_text(comparison, {}), "measured in turns, so repetitions are compared pair by pair"));
  CHECK(contains(render::render_text(comparison, {}), "broken: throughput < -5% in all configurations together"));
  CHECK(contains(render::render_markdown(comparison), "### all configurations together"));
  CHECK(contains(render::render_junit(comparison), "classname=\"all configurations together\""));
  const auto document = json::parse(render::render_json(comparison));
  CHECK(document["paired"] == true);
  const auto& together = document["together"]["changes"][0];
  CHECK(together["p_value"].get<double>() == Approx(2.0 / 256));
  CHECK(together["corrected_p_value"].get<double>() == Approx(4.0 / 256));
  CHECK(together["rank_biserial"] == -1.0);
  CHECK_FALSE(together.contains("base_median"));
  CHECK(document["together"]["checks"][0]["outcome"] == "broken");
}
