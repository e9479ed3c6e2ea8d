#include <paretopipe/analysis/frontier/objective.hpp>
#include <paretopipe/core/error.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "../stats/samples.hpp"

using namespace paretopipe;
using frontier::parse_objective;
using frontier::parse_objectives;

TEST_CASE("an objective is a metric with its own direction unless another is given") {
  CHECK(parse_objective("latency_p50").label() == "latency_p50:min");
  CHECK(parse_objective("throughput").label() == "throughput:max");
  CHECK(parse_objective("throughput:min").label() == "throughput:min");
  CHECK(parse_objective("payload:max").label() == "payload:max");
}

TEST_CASE("latency and throughput are the default objectives") {
  const auto objectives = parse_objectives({});
  REQUIRE(objectives.size() == 2);
  CHECK(objectives[0].label() == "latency_p50:min");
  CHECK(objectives[1].label() == "throughput:max");
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
  CHECK_THROWS_AS(parse_objective("latency"), UsageError);
  CHECK_THROWS_AS(parse_objective("throughput:best"), UsageError);
  CHECK_THROWS_AS(parse_objective("throughput:"), UsageError);
  CHECK_THROWS_AS(parse_objective(""), UsageError);
  CHECK(support::contains(support::message_of<Error>([] { parse_objective("latencies"); }), "latency_p99"));
  CHECK_THROWS_AS(parse_objectives({"payload:min", "payload:max"}), UsageError);
}
