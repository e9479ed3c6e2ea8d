#include <paretopipe/analysis/frontier/objective.hpp>
#include <paretopipe/core/error.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "../stats/samples.hpp"

using namespace paretopipe;
using frontier::parse_constraint;
using frontier::parse_objective;
using frontier::parse_objectives;
using support::contains;
using support::message_of;

TEST_CASE("an objective is a metric with its own direction unless another is given") {
  CHECK(parse_objective("latency_p50").label() == "latency_p50:min");
  CHECK(parse_objective("throughput").label() == "throughput:max");
  CHECK(parse_objective("throughput:min").label() == "throughput:min");
  CHECK(parse_objective("payload:max").label() == "payload:max");
}

TEST_CASE("latency and throughput are the default objectives") {
  const auto objectives = parse_objectives({});
  REQUIRE(objectives.size() == 2);
  CHECK(objectives[0].label() + " " + objectives[1].label() == "latency_p50:min throughput:max");
  CHECK(parse_objectives({"payload"}).size() == 1);
}

TEST_CASE("where only one phase was measured, its number and the payload are the default objectives") {
  const auto both = testing::make_record(testing::make_trial(3), {5000, 4000, 3000, 2000}, 8000);
  const auto alone = testing::in_phases(both, experiment::Phases::single_stream);
  const auto loaded = testing::in_phases(both, experiment::Phases::offline);
  const auto labels = [](const std::vector<record::TrialRecord>& records) {
    const auto objectives = parse_objectives({}, frontier::measured_phases(records));
    return objectives.at(0).label() + " " + objectives.at(1).label();
  };
  CHECK(labels({alone, alone}) == "latency_p50:min payload:min");
  CHECK(labels({loaded}) == "throughput:max payload:min");
  CHECK(labels({loaded, alone}) == "latency_p50:min payload:min");
  CHECK(labels({alone, loaded, both}) == "latency_p50:min throughput:max");
  CHECK(labels({}) == "latency_p50:min throughput:max");
  CHECK(labels({alone, testing::make_failure(both.trial, "gone")}) == "latency_p50:min payload:min");
}

TEST_CASE("unknown metrics, directions and repeated objectives are refused") {
  for (const auto* text : {"latency", "throughput:best", "throughput:", ""}) {
    CHECK_THROWS_AS(parse_objective(text), UsageError);
  }
  CHECK(contains(message_of<Error>([] { parse_objective("latencies"); }), "latency_p99"));
  CHECK_THROWS_AS(parse_objectives({"payload:min", "payload:max"}), UsageError);
}

TEST_CASE("a constraint is a metric, a sign and a value with the metric's unit") {
  const auto latency = parse_constraint("latency_p95 < 80ms");
  CHECK(latency.metric->name == "latency_p95");
  CHECK(latency.bound == 80e6);
  CHECK(latency.holds(79.9e6));
  CHECK_FALSE(latency.holds(80e6));
  CHECK(latency.label() == "latency_p95 < 80.0 ms");
  CHECK(parse_constraint("peak_rss<=512MiB").holds(512.0 * 1024 * 1024));
  CHECK(parse_constraint("  throughput>=100 ").holds(100));
  CHECK_FALSE(parse_constraint("throughput > 100 image/s").holds(100));
  CHECK(parse_constraint("throughput > 1.5k/s").bound == 1500);
  CHECK(parse_constraint("goodput > 8 Mbit/s").bound == 1e6);
  CHECK(parse_constraint("goodput > 2 MiB/s").bound == 2 * 1048576.0);
  CHECK(parse_constraint("bubble < 5 %").bound == 0.05);
  CHECK(parse_constraint("max_abs_difference <= 1e-5").bound == 1e-5);
}

TEST_CASE("a constraint may ask for a codec or rule one out, and nothing crosses a cut where there is none") {
  const auto is = parse_constraint("codec=zstd:1"), is_not = parse_constraint(" codec != none/sort8 ");
  CHECK(is.label() == "codec = zstd");
  CHECK(is_not.label() == "codec != none/sort8");
  CHECK(parse_constraint("codec = uint8").codec == "uint8");
  experiment::Trial trial;
  trial.block_count = 3;
  trial.split_points = {1};
  CHECK_FALSE(is.holds_for_codec(trial));
  CHECK(is_not.holds_for_codec(trial));
  trial.codec = "zstd";
  CHECK(is.holds_for_codec(trial));
  trial.codec = "none/sort8";
  CHECK_FALSE(is_not.holds_for_codec(trial));
  trial.codec = "none";
  trial.split_points = {3};
  CHECK(is.holds_for_codec(trial));
  trial.split_points.clear();
  trial.data_parallel = 2;
  CHECK(is.holds_for_codec(trial));
  CHECK(parse_constraint("codec < 5ms").metric->name == "codec");  // the time that it takes
}

TEST_CASE("a value of every metric's unit can be read") {
  for (const auto& metric : record::metrics()) {
    const auto* text = metric.unit == "ns" ? "3ns" : metric.unit == "B" ? "3B" : metric.unit == "B/s" ? "3 B/s" : "3";
    CHECK(frontier::parse_value(text, metric.unit) == 3);
  }
  CHECK_THROWS_AS(frontier::parse_value("3", "furlong"), std::logic_error);
}

TEST_CASE("a constraint that means nothing is refused with what is wrong and what to write") {
  const auto refusal = [](const char* text) { return message_of<UsageError>([&] { parse_constraint(text); }); };
  CHECK(contains(refusal("latency_p59 < 80ms"), "did you mean \"latency_p50\""));
  CHECK(contains(refusal("latency_p59 < 80ms"), "in the constraint \"latency_p59 < 80ms\""));
  CHECK(contains(refusal("latency_p95 < 80"), "unit of time"));
  CHECK(contains(refusal("latency_p95 < 80 MiB"), "unit of time"));
  CHECK(contains(refusal("peak_rss < 512 MIB"), "unit of bytes"));
  CHECK(contains(refusal("throughput > 100 fps"), "images per second"));
  CHECK(contains(refusal("goodput > 5"), "5 MiB/s"));
  CHECK(contains(refusal("latency_p95 = 80ms"), "= is for the codec that crosses"));
  CHECK(contains(refusal("latency_p95 = 80ms"), "of latency_p95 write <, <=, > or >="));
  CHECK(contains(refusal("latency_p59 != 80ms"), "did you mean \"latency_p50\""));
  CHECK(contains(refusal("codec = sort7"), "\"sort7\" is no codec"));
  CHECK(contains(refusal("latency_p95"), "is not a constraint"));
  CHECK(contains(refusal("codec ! sort8"), "is not a constraint"));
  for (const auto* text : {"", "<", "latency_p95 <", "< 80ms", "latency_p95 << 80ms", "latency_p95 < -80ms",
                           "latency_p95 < nan", "throughput > inf", "throughput > 1e999", "bubble < 500 %"}) {
    CHECK_THROWS_AS(parse_constraint(text), UsageError);
  }
}

TEST_CASE("a reference names objectives of this frontier, each once") {
  const auto objectives = frontier::parse_objectives({"latency_p50", "throughput"});
  CHECK(frontier::parse_reference({}, objectives) == std::vector<std::optional<double>>{std::nullopt, std::nullopt});
  CHECK(frontier::parse_reference({"throughput=50"}, objectives) ==
        std::vector<std::optional<double>>{std::nullopt, 50});
  CHECK(frontier::parse_reference({"latency_p50=500ms"}, objectives)[0] == 500e6);
  const auto refusal = [&](std::vector<std::string> texts) {
    return message_of<UsageError>([&] { frontier::parse_reference(texts, objectives); });
  };
  CHECK(contains(refusal({"latency_p50"}), "is not a reference"));
  CHECK(contains(refusal({"payload=1MB"}), "Its objectives: latency_p50, throughput"));
  CHECK(contains(refusal({"latency_p5=1ms"}), "did you mean \"latency_p50\""));
  CHECK(contains(refusal({"latency_p50=1"}), "unit of time"));
  CHECK(contains(refusal({"latency_p50=1s", "latency_p50=2s"}), "twice"));
}
