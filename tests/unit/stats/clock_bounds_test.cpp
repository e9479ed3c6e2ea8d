#include <paretopipe/analysis/stats/clock_bounds.hpp>

#include <algorithm>
#include <limits>

#include <support/catch.hpp>

#include "simulated_clocks.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using stats::ClockBounds;
using stats::LinkFrames;

namespace {

constexpr std::int64_t kHugeOffset = 3'000'000'000'000'000;

std::vector<ClockBounds> bounds_of(const std::vector<LinkFrames>& links, std::size_t stages) {
  return stats::bound_clocks(own_clocks(stages), links);
}

bool none_before_it_is_sent(const std::vector<LinkFrames>& links, const std::vector<ClockBounds>& bounds) {
  return std::all_of(links.begin(), links.end(), [&](const LinkFrames& link) {
    const auto& from = bounds[static_cast<std::size_t>(link.from)];
    const auto& to = bounds[static_cast<std::size_t>(link.to)];
    return std::all_of(link.frames.begin(), link.frames.end(), [&](const stats::FrameTimes& frame) {
      return from.to_base(frame.sent) <= to.to_base(frame.received);
    });
  });
}

/// At the first and last frame of a stage, and at some moments between.
bool hold_the_truth(const ClockBounds& bounds, const SimulatedClock& clock, const SimulatedTrial& trial) {
  if (bounds.empty() || bounds.same_clock()) return false;
  for (int part = 0; part <= 10; ++part) {
    const auto time = clock.read(1.1e9 + part / 10.0 * (trial.batches - 10) * trial.interval_ns);
    const auto truth = clock.to_add(time);
    const auto range = bounds.offset_at(time);
    // A clock reads whole nanoseconds.
    if (static_cast<double>(range.low) > truth + 1 || static_cast<double>(range.high) < truth - 1) return false;
    if (std::abs(static_cast<double>(bounds.to_add(time)) - truth) > static_cast<double>(bounds.error_ns() + 1)) {
      return false;
    }
  }
  const auto drift = bounds.drift();
  return drift.low <= clock.added_drift() + 1e-12 && clock.added_drift() <= drift.high + 1e-12;
}

struct Network {
  const char* name;
  double there_ns, back_ns, jitter_ns, queueing_ns;
};

constexpr Network kNetworks[] = {
    {"symmetric", 1e6, 1e6, 0.1e6, 0}, {"asymmetric", 150e6, 50e6, 5e6, 100e6}, {"fast", 30e3, 20e3, 5e3, 1e6}};

/// Stages whose clocks are anywhere and drift by up to `drift` either way.
SimulatedTrial random_trial(std::size_t stages, bool star, const Network& network, double drift, std::mt19937& random) {
  std::uniform_int_distribution<std::int64_t> ahead(-kHugeOffset, kHugeOffset);
  std::uniform_real_distribution<double> faster(-drift, drift);
  SimulatedTrial trial;
  trial.star = star;
  trial.jitter_ns = network.jitter_ns;
  trial.queueing_ns = network.queueing_ns;
  trial.clocks.emplace_back();
  while (trial.clocks.size() < stages) trial.clocks.push_back({ahead(random), faster(random)});
  for (std::size_t link = 0; link < 2 * stages; ++link) {
    trial.delays_ns.push_back(link % 2 == 0 ? network.there_ns : network.back_ns);
  }
  return trial;
}

}  // namespace

TEST_CASE(
    "in 100 of 100 random trials the bounds hold the true offset and drift, and no frame arrives before it left") {
  const auto& network = GENERATE(from_range(std::begin(kNetworks), std::end(kNetworks)));
  const auto [stages, star] = GENERATE(table<std::size_t, bool>({{2, false}, {3, false}, {4, false}, {4, true}}));
  const double drift = GENERATE(0, 50e-6, 500e-6);
  CAPTURE(network.name, stages, star, drift);
  std::mt19937 random(17);
  int held = 0, causal = 0;
  for (int round = 0; round < 100; ++round) {
    auto trial = random_trial(stages, star, network, drift, random);
    trial.batches = 100;
    const auto links = simulate(trial, random);
    const auto bounds = bounds_of(links, stages);
    bool all = bounds.front().same_clock();
    for (std::size_t stage = 1; stage < stages; ++stage) {
      all = all && hold_the_truth(bounds[stage], trial.clocks[stage], trial);
    }
    held += all ? 1 : 0;
    causal += none_before_it_is_sent(links, bounds) ? 1 : 0;
  }
  CHECK(held == 100);
  CHECK(causal == 100);
}

TEST_CASE(
    "the error is at most half of the two shortest ways, however long the others took and however unequal they are") {
  std::mt19937 random(3);
  const auto drift = GENERATE(-500e-6, 0.0, 50e-6);
  SimulatedTrial trial{{{}, {12345, drift}}, {150e6, 50e6}};
  trial.jitter_ns = 1e6;
  trial.queueing_ns = 500e6;
  trial.batches = 2000;
  const auto bounds = bounds_of(simulate(trial, random), 2);
  // A jitter of 1 ms comes near 0 within a few frames, but not exactly at the beginning and at the end.
  CHECK(bounds[1].error_ns() >= 100'000'000);
  CHECK(bounds[1].error_ns() < 101'000'000);
  CHECK(bounds[1].drift().high - bounds[1].drift().low < 0.011);
}

TEST_CASE("round a ring, bounds are as wide as its shortest ways together, and every link looks equally slow") {
  std::mt19937 random(4);
  SimulatedTrial trial{{{}, {-77'000'000'000, 20e-6}, {99, -30e-6}}, {1e6, 2e6, 3e6}};
  trial.jitter_ns = 10e3;
  const auto links = simulate(trial, random);
  const auto bounds = bounds_of(links, 3);
  for (const std::size_t stage : {1, 2}) {
    const auto range = bounds[stage].offset_at(trial.clocks[stage].read(5e9));
    CHECK(range.high - range.low >= 6'000'000);
    CHECK(range.high - range.low < 6'050'000);
    CHECK(bounds[stage].error_ns() >= 4'000'000);
    CHECK(bounds[stage].error_ns() < 4'100'000);
  }
  for (const auto& link : links) {
    auto shortest = std::numeric_limits<std::int64_t>::max();
    for (const auto& frame : link.frames) {
      const auto sent = bounds[static_cast<std::size_t>(link.from)].to_base(frame.sent);
      shortest = std::min(shortest, bounds[static_cast<std::size_t>(link.to)].to_base(frame.received) - sent);
    }
    CHECK(shortest > 1'900'000);
    CHECK(shortest < 2'100'000);
  }
}

TEST_CASE("a clock that is stepped in the middle by more than the frames take leaves no line") {
  std::mt19937 random(5);
  const auto step = GENERATE(-20'000'000, 20'000'000);
  const auto [stages, star] = GENERATE(table<std::size_t, bool>({{2, false}, {3, false}, {4, true}}));
  auto trial = random_trial(stages, star, kNetworks[0], 50e-6, random);
  trial.clocks.back().step = step;
  trial.clocks.back().step_at = 5'000'000'000;
  const auto bounds = bounds_of(simulate(trial, random), stages);
  CHECK(bounds.back().empty());
  CHECK(bounds.back().error_ns() > 0);
  if (star) CHECK_FALSE(bounds[1].empty());
}

TEST_CASE("a clock whose rate is changed in the middle leaves no line") {
  LinkFrames there{0, 1, {}}, back{1, 0, {}};
  for (std::int64_t now = 0; now < 20'000'000'000; now += 10'000'000) {
    const auto ahead = std::max<std::int64_t>(0, now - 10'000'000'000) / 2000;  // 500 ppm for ten seconds
    there.frames.push_back({now, now + 100'000 + ahead});
    back.frames.push_back({now + ahead, now + 100'000});
  }
  CHECK(bounds_of({there, back}, 2)[1].empty());
}

TEST_CASE("one frame each way bounds the offset by its two delays, and says nothing of the drift") {
  const auto ahead = GENERATE(0, 5, -kHugeOffset, kHugeOffset);
  const std::vector<LinkFrames> links{{0, 1, {{1000, 1300 + ahead}}}, {1, 0, {{1400 + ahead, 1500}}}};
  const auto bounds = bounds_of(links, 2)[1];
  CHECK_FALSE(bounds.empty());
  const auto range = bounds.offset_at(1350 + ahead);
  CHECK(range.low >= -ahead - 301);
  CHECK(range.low <= -ahead - 299);
  CHECK(range.high >= -ahead + 99);
  CHECK(range.high <= -ahead + 101);
  CHECK(bounds.drift().low == -1e-3);
  CHECK(bounds.drift().high == 1e-3);
  CHECK(none_before_it_is_sent(links, bounds_of(links, 2)));
}

TEST_CASE("one frame round a ring of three is enough, although the middle clock is not read twice at one time") {
  const std::vector<LinkFrames> links{{0, 1, {{0, 100}}}, {1, 2, {{5'000'100, 250}}}, {2, 0, {{260, 5'000'500}}}};
  const auto bounds = bounds_of(links, 3);
  CHECK_FALSE(bounds[1].empty());
  CHECK_FALSE(bounds[2].empty());
  // Over the 5 ms that the frame waited, clocks may have drifted apart by 5 us.
  CHECK(bounds[2].offset_at(250).high - bounds[2].offset_at(250).low < 15'000);
  CHECK(none_before_it_is_sent(links, bounds));
}

TEST_CASE("frames that take no time fix the clock, and frames at equal times do not divide by zero") {
  const std::vector<LinkFrames> links{{0, 1, {{0, 70}, {0, 70}, {1'000'000, 1'000'070}}},
                                      {1, 0, {{70, 0}, {70, 30}, {1'000'070, 1'000'000}}}};
  const auto bounds = bounds_of(links, 2)[1];
  CHECK_FALSE(bounds.empty());
  CHECK(bounds.offset_at(500'000).low >= -71);
  CHECK(bounds.offset_at(500'000).high <= -69);
  CHECK(bounds.to_base(70) == 0);
  CHECK(bounds.to_base(1'000'070) == 1'000'000);
  const std::vector<LinkFrames> one_moment{{0, 1, {{5, 5}, {5, 5}}}, {1, 0, {{5, 5}}}};
  CHECK(bounds_of(one_moment, 2)[1].to_base(5) == 5);
}

TEST_CASE("clocks that agree but for a nanosecond of rounding are not taken for stepped") {
  const std::vector<LinkFrames> links{{0, 1, {{0, 0}, {1'000'000, 999'999}}}, {1, 0, {{0, 0}, {1'000'000, 1'000'000}}}};
  CHECK_FALSE(bounds_of(links, 2)[1].empty());
}

TEST_CASE("a stage with stage 0's clock needs nothing, and one with another stage's clock gets the same line") {
  std::mt19937 random(6);
  const SimulatedClock other{kHugeOffset, 40e-6};
  SimulatedTrial trial{{{}, other, other, {}}, {1e6, 1e6, 1e6, 1e6}};
  const auto links = simulate(trial, random);
  const auto bounds = stats::bound_clocks(std::vector{7, 2, 2, 7}, links);
  CHECK(bounds[3].same_clock());
  CHECK(bounds[3].to_base(123'456'789'012'345'678) == 123'456'789'012'345'678);
  CHECK(bounds[3].error_ns() == 0);
  CHECK(bounds[3].offset_at(5) == stats::OffsetInterval{});
  CHECK(hold_the_truth(bounds[1], other, trial));
  for (const auto& frame : links[1].frames) {
    REQUIRE(bounds[1].to_base(frame.sent) == bounds[2].to_base(frame.sent));
  }
  CHECK(none_before_it_is_sent(links, bounds));
  // Twice on the other host, with stage 0's between: each way is direct.
  const auto folded =
      stats::bound_clocks(std::vector{0, 1, 0, 1}, simulate({{{}, other, {}, other}, {1e6, 1e6, 1e6, 1e6}}, random));
  CHECK(folded[1].error_ns() < 1'010'000);
  CHECK(folded[2].same_clock());
}

TEST_CASE("aligning keeps the order of moments, whichever way the clock drifts") {
  std::mt19937 random(7);
  const auto drift = GENERATE(-500e-6, 500e-6);
  const SimulatedTrial trial{{{}, {kHugeOffset, drift}}, {1e6, 1e6}};
  const auto bounds = bounds_of(simulate(trial, random), 2)[1];
  auto before = std::numeric_limits<std::int64_t>::min();
  for (std::int64_t moment = kHugeOffset; moment < kHugeOffset + 9'000'000'000; moment += 9'100'003) {
    for (const auto close : {moment, moment + 1}) {
      REQUIRE(bounds.to_base(close) >= before);
      before = bounds.to_base(close);
    }
  }
}

TEST_CASE("tens of thousands of frames are no burden") {
  std::mt19937 random(8);
  auto trial = random_trial(4, false, kNetworks[1], 500e-6, random);
  trial.batches = 50'000;
  const auto bounds = bounds_of(simulate(trial, random), 4);
  for (std::size_t stage = 1; stage < 4; ++stage) CHECK(hold_the_truth(bounds[stage], trial.clocks[stage], trial));
}

TEST_CASE("a clock that frames reach from one side only is an error that names the stage") {
  const std::vector<LinkFrames> links{{0, 1, {{0, 5}}}, {1, 0, {}}};
  CHECK_THROWS_WITH(bounds_of(links, 2), "no frames bound the clock of stage 1 from both sides");
  CHECK_NOTHROW(bounds_of({}, 1));
}

TEST_CASE("the true offset is in the interval of exchanges, which the shortest of both ways give, however unequal") {
  std::mt19937 random(9);
  std::uniform_int_distribution<std::int64_t> way(1000, 1'000'000);
  std::uniform_int_distribution<std::int64_t> clock(-kHugeOffset, kHugeOffset);
  for (int round = 0; round < 100; ++round) {
    const auto ahead = clock(random);
    std::vector<stats::ClockExchange> exchanges;
    std::int64_t now = 0, there = 1'000'000, back = 1'000'000;
    for (int i = 0; i < 8; ++i, now += 3'000'000) {
      const auto one = way(random), other = way(random), busy = way(random);
      there = std::min(there, one);
      back = std::min(back, other);
      exchanges.push_back({now, now + one + ahead, now + one + busy + ahead, now + one + busy + other});
    }
    REQUIRE(stats::offset_interval(exchanges) == stats::OffsetInterval{ahead - back, ahead + there});
  }
}

TEST_CASE("exchanges that contradict one another, or none, give no interval") {
  CHECK_FALSE(stats::offset_interval({}).has_value());
  const std::vector<stats::ClockExchange> stepped{{0, 10, 10, 20}, {100, 210, 210, 120}};
  CHECK_FALSE(stats::offset_interval(stepped).has_value());
}
