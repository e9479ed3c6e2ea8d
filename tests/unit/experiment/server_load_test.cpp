#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/experiment.hpp>

#include <limits>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using nlohmann::json;
using support::contains;
using support::message_of;

TEST_CASE("a bound is a statistic and a limit, and is written as it is read") {
  CHECK(parse_latency_bound("p99 < 100ms") == LatencyBound{LatencyStatistic::p99, 100'000'000});
  CHECK(parse_latency_bound("mean<1.5 s") == LatencyBound{LatencyStatistic::mean, 1'500'000'000});
  CHECK(parse_latency_bound("  max  <  800ns ") == LatencyBound{LatencyStatistic::max, 800});
  for (const auto* text : {"mean < 1500 ms", "p50 < 2 s", "p90 < 250 us", "p95 < 7 ns", "p99 < 100 ms", "max < 1 s"}) {
    CHECK(to_string(parse_latency_bound(text)) == text);
  }
}

TEST_CASE("what is no bound is refused with what is wrong about it") {
  struct Refusal {
    const char* text;
    const char* reason;
  };
  const auto refused = GENERATE(values<Refusal>({
      {"", "such as"},
      {"p99", "such as"},
      {"p99 > 100ms", "such as"},
      {"< 100ms", "about \"\""},
      {"p98 < 100ms", "mean, p50, p90, p95, p99, max"},
      {"latency_p99 < 100ms", "about \"latency_p99\""},
      {"p99 < ", "p99 < "},
      {"p99 < 100", "p99 < 100"},
      {"p99 < -5ms", "-5ms"},
      {"p99 < 0ms", "no latency at all"},
      {"p99 <= 100ms", "= 100ms"},
  }));
  const auto message = message_of<UsageError>([&] { parse_latency_bound(refused.text); });
  CAPTURE(refused.text, message);
  CHECK(contains(message, refused.reason));
}

TEST_CASE("a load has a rate or a bound, and crosses JSON as it is") {
  const ServerLoad at_rate{12.5, std::nullopt, 64};
  const ServerLoad search{0, LatencyBound{LatencyStatistic::p95, 7}, 2};
  CHECK(json(at_rate).dump() == R"({"queries":64,"rate_image_per_s":12.5})");
  CHECK(json(search).dump() == R"({"bound":{"limit_ns":7,"statistic":"p95"},"queries":2})");
  for (const auto& load : {at_rate, search}) CHECK(json::parse(json(load).dump()).get<ServerLoad>() == load);
  CHECK(to_string(at_rate) == "Server at 12.5 image/s, 64 queries");
  CHECK(to_string(search) == "Server, highest rate with p95 < 7 ns, 2 queries");
}

TEST_CASE("a load that nothing can be measured under is refused") {
  const auto* text = GENERATE(
      R"({"queries":64})", R"({"queries":1,"rate_image_per_s":5})", R"({"queries":64,"rate_image_per_s":0})",
      R"({"queries":64,"rate_image_per_s":-5})", R"({"queries":64,"rate_image_per_s":1e300})",
      R"({"queries":2000000000,"rate_image_per_s":5})", R"({"queries":64,"bound":{"statistic":"p99","limit_ns":0}})",
      R"({"queries":64,"rate_image_per_s":5,"bound":{"statistic":"p99","limit_ns":5}})",
      R"({"queries":64,"rate_image_per_s":0,"bound":{"statistic":"p99","limit_ns":5}})");
  CAPTURE(text);
  CHECK_THROWS_AS(json::parse(text).get<ServerLoad>(), UsageError);
}

TEST_CASE("every rate is a load, a search is one, and without either there is none") {
  CHECK(loads_of({}).empty());
  CHECK(loads_of({{20, 10}, "", 5}) == std::vector<ServerLoad>{{20, std::nullopt, 5}, {10, std::nullopt, 5}});
  CHECK(loads_of({{}, "p50 < 1s", 5}) ==
        std::vector<ServerLoad>{{0, LatencyBound{LatencyStatistic::p50, 1'000'000'000}, 5}});
}

TEST_CASE("an experiment's server settings are read over the defaults, and unknown keys are refused") {
  const auto read = [](const char* text) { return experiment_from_json({{"server", json::parse(text)}}); };
  const auto experiment = read(R"({"rates": [10, 2.5]})");
  CHECK(experiment.server == ServerSettings{{10, 2.5}, "", kDefaultQueries});
  CHECK(experiment_from_json(json(experiment)) == experiment);
  CHECK(contains(message_of<UsageError>([&] { read(R"({"rate": 5})"); }),
                 "experiment.server has an unknown key \"rate\""));
  CHECK_THROWS_AS(read("[10]"), UsageError);
  CHECK(message_of<UsageError>([&] { read(R"({"queries": 1})"); }) ==
        "experiment.server.queries is 1; it must be from 2 to 50000");
  CHECK_THROWS_AS(read(R"({"queries": 50001})"), UsageError);
}

TEST_CASE("settings out of range are refused by their key") {
  struct Refusal {
    ServerSettings settings;
    const char* reason;
  };
  const std::vector<Refusal> refusals{
      {{{0}, "", 10}, "rates holds 0;"},
      {{{-3}, "", 10}, "rates holds -3"},
      {{{1e7}, "", 10}, "rates holds 1e+07"},
      {{{std::numeric_limits<double>::quiet_NaN()}, "", 10}, "rates holds"},
      {{{std::numeric_limits<double>::infinity()}, "", 10}, "rates holds inf"},
      {{{10, 20, 10}, "", 10}, "holds 10 twice"},
      {{{10}, "p99 < 1s", 10}, "one after the other"},
      {{{}, "p99 < 1", 10}, "p99 < 1"},
      {{{0.001}, "", 10}, "to arrive"},
  };
  for (const auto& [settings, reason] : refusals) {
    const auto message = message_of<UsageError>([&, &settings = settings] { validate(settings, 4, 8); });
    CAPTURE(message, reason);
    CHECK(contains(message, reason));
  }
  CHECK_NOTHROW(validate(ServerSettings{}, 4, 8));
  CHECK_NOTHROW(validate(ServerSettings{{0.1, 1e6}, "", 1000}, 4, 8));
}
