#include <paretopipe/analysis/compare/judge.hpp>
#include <paretopipe/core/error.hpp>

#include <string>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using compare::parse_rule;
using support::contains;

TEST_CASE("a rule names a metric, a side and a percentage, with blanks or without") {
  const auto& throughput = record::find_metric("throughput");
  for (const auto* text : {"throughput < -5%", "throughput<-5%", "  throughput\t<  -5 %  ", "throughput < -5.0%"}) {
    CAPTURE(text);
    CHECK(parse_rule(text) == compare::Rule{&throughput, false, -5});
    CHECK(parse_rule(text).text() == "throughput < -5%");
  }
  for (const auto* text : {"latency_p95 > +10.5%", "latency_p95 > 10.5%"}) {
    CHECK(parse_rule(text) == compare::Rule{&record::find_metric("latency_p95"), true, 10.5});
    CHECK(parse_rule(text).text() == "latency_p95 > +10.5%");
  }
}

TEST_CASE("any change beyond noise in one direction is a rule too") {
  CHECK(parse_rule("throughput < 0%").text() == "throughput < -0%");
  CHECK(parse_rule("throughput < -0%").text() == "throughput < -0%");
  CHECK(parse_rule("latency_p50 > 0%").text() == "latency_p50 > +0%");
}

TEST_CASE("what is not a rule is refused with the form that it should have") {
  for (const std::string text :
       {"", "throughput", "throughput -5%", "throughput < -5", "throughput < %", "throughput <= -5%",
        "throughput < -5%%", "throughput < five%", "throughput < -5% or so", "throughput < nan%", "throughput < -inf%",
        "throughput > 1e999%", "throughput > +-5%", "throughput > ++5%", "latency_p95 > 80ms", "throughput = -5%",
        "latency_p95 > 0x10%"}) {
    CAPTURE(text);
    const auto complaint = support::message_of<UsageError>([&] { parse_rule(text); });
    CHECK(contains(complaint, "\"" + text + "\" is not a rule"));
    CHECK(contains(complaint, "METRIC < -N%"));
  }
}

TEST_CASE("a rule that no change at all would break, and one that nothing can break, are refused") {
  const auto complaint = [](const char* text) { return support::message_of<UsageError>([&] { parse_rule(text); }); };
  CHECK(contains(complaint("throughput > -5%"), "no change at all"));
  CHECK(contains(complaint("throughput < 5%"), "no change at all"));
  CHECK(contains(complaint("throughput < -100%"), "never"));
  CHECK(contains(complaint("throughput < -99.9%"), "(nothing was thrown)"));
}

TEST_CASE("an unknown metric is refused with the one that was probably meant") {
  const auto complaint = support::message_of<UsageError>([] { parse_rule("troughput < -5%"); });
  CHECK(contains(complaint, "did you mean \"throughput\""));
  CHECK(contains(support::message_of<UsageError>([] { parse_rule("< -5%"); }), "is not a metric"));
}
