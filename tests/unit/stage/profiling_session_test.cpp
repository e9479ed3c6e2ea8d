#include <algorithm>
#include <numeric>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "served_stage.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using namespace paretopipe::stage;
using support::contains;

TEST_CASE("a stage says how long each run of blocks takes, and a run is the sum of its blocks where these only wait") {
  ServedStage stage;
  TimeRuns request{a_model(), 3, 1, {2, 3}, 4};
  request.model.model = "synthetic:200ms/4kB,4ms/4kB,2ms";
  const auto runs = stage.ask<RunTimes>(request).runs;
  REQUIRE(runs.size() == 2);
  for (const auto& run : runs) {
    const std::int64_t expected_ns = run.end == 2 ? 4'000'000 : 6'000'000;
    CHECK(run.compute_ns.size() == 4);
    const auto least = *std::min_element(run.compute_ns.begin(), run.compute_ns.end());
    CHECK(least >= expected_ns);
    CHECK(least < 200'000'000);  // the block before is not part of it
    CHECK(run.memory_bytes.value_or(0) >= 8'000);
  }
  request.prepared = true;
  CHECK(stage.ask<RunTimes>(request).runs.size() == 2);
  request.enough_ns = 3'000'000;
  CHECK(stage.ask<RunTimes>(request).runs.size() == 1);
  request.enough_ns = 60'000'000'000;
  CHECK(stage.ask<RunTimes>(request).runs.size() == 2);
  request.least_ns = 100'000'000;
  const auto rounds = stage.ask<RunTimes>(request).runs.front().compute_ns;
  CHECK(std::accumulate(rounds.begin(), rounds.end(), std::int64_t{0}) >= request.least_ns);
  request.enough_ns = -1;
  CHECK_FALSE(stage.ask<Fault>(request).reason.empty());
  stage.make_source(2);
  CHECK_NOTHROW(stage.ask<RunReport>(lone_run()));
}

TEST_CASE("a stage says what each codec makes of what crosses a cut, and how long encoding and decoding it take") {
  ServedStage stage;
  TimeCodecs request{a_model(), 3, 1, {codec::parse("uniform8"), codec::parse("zstd")}, 4};
  request.model.model = "synthetic:0ms/4kB,0ms/2kB,0ms";
  const auto at_cut = [&](int cut) {
    request.cut = cut;
    return stage.ask<CodecTimes>(request).codecs;
  };
  const auto times = at_cut(1);
  REQUIRE(times.size() == 2);
  CHECK(times[0].payload_bytes == 1008);  // 1000 values, and two levels beside
  CHECK(times[1].payload_bytes > 0);
  for (const auto& one : times) {
    CHECK(one.encode_ns.size() == 4);
    CHECK(one.decode_ns.size() == 4);
    CHECK(*std::min_element(one.encode_ns.begin(), one.encode_ns.end()) > 0);
  }
  CHECK(at_cut(2)[0].payload_bytes == 508);
  CHECK(at_cut(0).size() == 2);
  CHECK(at_cut(3).size() == 2);
}

TEST_CASE("codecs at a cut that does not exist, or that do not encode, are a fault, and the stage goes on") {
  ServedStage stage;
  const TimeCodecs good{a_model(), kBlocks, 1, {codec::parse("lz4")}, 1};
  const auto damaged = [&](const auto& damage) {
    auto request = good;
    damage(request);
    return contains(stage.ask<Fault>(request).reason, "the driver asked for the times of 1 codecs");
  };
  CHECK(damaged([](auto& request) { request.rounds = 0; }));
  CHECK(damaged([](auto& request) { request.cut = -1; }));
  CHECK(damaged([](auto& request) { request.cut = kBlocks + 1; }));
  CHECK(damaged([](auto& request) { request.codecs = {codec::Codec{}}; }));
  CHECK(stage.ask<CodecTimes>(good).codecs.size() == 1);
}

TEST_CASE("runs of blocks that do not exist are a fault, and the stage goes on") {
  ServedStage stage;
  const TimeRuns good{a_model(), kBlocks, 1, {2, 3}, 1};
  const auto damaged = [&](const auto& damage) {
    auto request = good;
    damage(request);
    return contains(stage.ask<Fault>(request).reason, "the driver asked for the times of");
  };
  CHECK(damaged([](auto& request) { request.rounds = 0; }));
  CHECK(damaged([](auto& request) { request.rounds = 1001; }));
  CHECK(damaged([](auto& request) { request.begin = -1; }));
  CHECK(damaged([](auto& request) { request.begin = 2; }));
  CHECK(damaged([](auto& request) { request.ends = {}; }));
  CHECK(damaged([](auto& request) { request.ends = {3, 2}; }));
  CHECK(damaged([](auto& request) { request.ends = {2, 2}; }));
  CHECK(damaged([](auto& request) { request.ends = {2, 4}; }));
  CHECK(stage.ask<RunTimes>(good).runs.size() == 2);
}
