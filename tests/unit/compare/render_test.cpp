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

TEST_CASE("every format is what its golden file says") {
  const auto comparison = a_regression();
  for (const auto& [ending, text] :
       {std::pair("txt", render::render_text(comparison, {.width = 100, .colour = false, .unicode = true})),
        {"md", render::render_markdown(comparison)},
        {"json", render::render_json(comparison)},
        {"xml", render::render_junit(comparison)}}) {
    CHECK(text == golden(std::string("compare/comparison.") + ending, text));
  }
}

TEST_CASE("different machines, and repetitions that do not count, are said; without rules the changes are counted") {
  const auto text_of = [](const Records& now) {
    return render::render_text(comparison_of(repetitions(kBefore), now, request({"throughput"})), {});
  };
  CHECK(text_of(repetitions(kSlower))
            .starts_with("1 worse and 0 better, beyond noise, in 1 configuration; no rule was given.\n"));
  auto elsewhere = repetitions(kBefore);
  for (auto& record : elsewhere) record.stages[0].host.hostname = "other";
  CHECK(contains(text_of(elsewhere), "a change may be the machine's"));
  CHECK_FALSE(contains(text_of(repetitions(kBefore)), "machine's"));
  auto partial = repetitions(kAlike);
  partial[0] = make_failure(make_trial(3, 0), "killed");
  CHECK(contains(text_of(partial), "1 of 5 repetitions does not count in new.jsonl: resnet18"));
  auto none = repetitions(kBefore);
  for (auto& record : none) record = make_failure(record.trial, "killed");
  CHECK_FALSE(contains(text_of(none), "machine's"));
  CHECK(contains(text_of(none), "0 worse and 0 better, beyond noise, in 1 configuration, and 1 without a new result"));
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

TEST_CASE("in a strict request JUnit's undecided testcases fail") {
  const auto xml = render::render_junit(a_regression(true));
  CHECK(contains(xml, "tests=\"7\" failures=\"6\" errors=\"0\" skipped=\"0\""));
  CHECK(contains(xml, "<failure type=\"undecided\""));
  CHECK_FALSE(contains(xml, "<skipped"));
}

TEST_CASE("in a strict request JUnit fails what was not measured again") {
  const auto base = repetitions(kBefore, 3) + repetitions(kBefore, 5);
  auto asked = request({"throughput"}, {"throughput < -5%"});
  const auto xml = [&] { return render::render_junit(comparison_of(base, repetitions(kAlike, 3), asked)); };
  CHECK(contains(xml(), "tests=\"1\" failures=\"0\""));
  asked.strict = true;
  CHECK(contains(xml(), "tests=\"2\" failures=\"1\""));
  CHECK(contains(xml(), "<failure type=\"missing\" message=\"only "));
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
  auto slower = kEight;
  for (auto& us : slower) us += us / 5;
  auto base = repetitions(kEight, 3) + repetitions(kEight, 5), now = repetitions(slower, 3) + repetitions(slower, 5);
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
