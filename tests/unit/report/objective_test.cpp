#include <paretopipe/core/error.hpp>
#include <paretopipe/report/objective.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "../stats/samples.hpp"

using namespace paretopipe;
using report::parse_objective;
using report::parse_objectives;

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

TEST_CASE("unknown metrics, directions and repeated objectives are refused") {
  CHECK_THROWS_AS(parse_objective("latency"), UsageError);
  CHECK_THROWS_AS(parse_objective("throughput:best"), UsageError);
  CHECK_THROWS_AS(parse_objective("throughput:"), UsageError);
  CHECK_THROWS_AS(parse_objective(""), UsageError);
  CHECK(support::contains(support::message_of<Error>([] { parse_objective("latencies"); }), "latency_p99"));
  CHECK_THROWS_AS(parse_objectives({"payload:min", "payload:max"}), UsageError);
}
