#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <support/catch.hpp>

#include "links.hpp"

using namespace paretopipe;
using namespace paretopipe::shaping;
using namespace std::chrono_literals;
using experiment::DelayDistribution;
using experiment::LinkConditions;

namespace {

Lines lines(const LinkConditions& conditions) {
  return as_typed(shape_commands("x", conditions));
}

}  // namespace

TEST_CASE("conditions are written as people write them: tbf for a rate alone, else netem, and never a reordering",
          "[tc]") {
  CHECK(lines({}).empty());
  auto paced = paced_link(20'000'000);
  CHECK(lines(paced) == Lines{"tc qdisc add dev x root handle 1: tbf rate 20000000bit burst 13028b latency 100ms"});
  paced.burst_bytes = 50'000;
  paced.queue_latency = 1500us;
  CHECK(lines(paced) == Lines{"tc qdisc add dev x root handle 1: tbf rate 20000000bit burst 50000b latency 1500us"});
  CHECK_FALSE(needs_netem(paced));  // so it works without
  // netem paces every frame.
  CHECK(lines(paced_link(10'000'000, 25ms)) ==
        Lines{"tc qdisc add dev x root handle 1: netem limit 1000 delay 25ms rate 10000000bit"});
  CHECK(lines(experiment::load_network_profile("published").forward) ==
        Lines{"tc qdisc add dev x root handle 1: netem limit 1000 delay 200ms",
              "tc qdisc add dev x parent 1:1 handle 2: tbf rate 5000000bit burst 4096b latency 400ms"});
  auto scattered = delayed_link(20ms);  // netem keeps packets in order where it has a rate
  scattered.jitter = 5ms;
  scattered.distribution = DelayDistribution::normal;
  CHECK(lines(scattered) ==
        Lines{"tc qdisc add dev x root handle 1: netem limit 66052 delay 20ms 5ms distribution normal "
              "rate 1000000000000bit"});
  scattered.rate_bit_per_s = 1'000'000;
  CHECK(lines(scattered) ==
        Lines{"tc qdisc add dev x root handle 1: netem limit 1000 delay 20ms 5ms distribution normal "
              "rate 1000000bit"});
  auto lossy = delayed_link(1500us);
  lossy.loss = 0.00333;
  lossy.duplicate = 0.001;
  lossy.reorder = 0.25;
  lossy.queue_packets = 77;
  CHECK(lines(lossy) == Lines{"tc qdisc add dev x root handle 1: netem limit 77 delay 1500us loss 0.333% "
                              "duplicate 0.1% reorder 25%"});
}

TEST_CASE("every shipped profile can be written as commands", "[tc]") {
  for (const auto& [name, description] : experiment::shipped_networks()) {
    const auto profile = experiment::load_network_profile(name);
    for (const auto& conditions : {profile.forward, profile.backward}) {
      CAPTURE(name);
      CHECK(shape_commands("x", conditions).empty() != conditions.shaped());
      CHECK(warnings(conditions).empty());
    }
  }
}

TEST_CASE("the computed burst holds a frame, and what passes in a tick", "[tc]") {
  for (const std::int64_t rate : {1'000, 1'000'000, 500'000'000, 1'000'000'000}) {
    CHECK(default_burst_bytes(rate) >= 2 * kFrameBytes);
    CHECK(static_cast<double>(default_burst_bytes(rate)) >= static_cast<double>(rate) / 8 * 0.004);
  }
}

TEST_CASE("netem's limit holds what is under way on a long fast link", "[tc]") {
  auto conditions = paced_link(500'000'000, 200ms);
  const double under_way = 0.2 * 500e6 / 8 / 1514;
  CHECK(static_cast<double>(default_queue_packets(conditions)) > 2 * under_way);
  conditions.rate_bit_per_s = 1'000;
  CHECK(default_queue_packets(conditions) == 1000);
}

TEST_CASE("a burst too small for its rate, and a queue too small for its delay, are warned of", "[tc]") {
  auto conditions = paced_link(100'000'000);
  conditions.burst_bytes = 4'096;
  CHECK(
      warnings(conditions) ==
      Lines{"a burst of 4096 bytes may be too small for 100 Mbit/s: a timer that is late by a tick (4 ms) misses 50000 "
            "bytes; 53028 would do"});
  conditions.burst_bytes.reset();
  conditions.delay = 100ms;
  conditions.queue_packets = 500;
  CHECK(warnings(conditions) == Lines{"a queue of 500 packets is less than the 826 that are under way at 100 Mbit/s; "
                                      "the rate will not be reached"});
  conditions.queue_packets = 5'000;
  CHECK(warnings(conditions).empty());
}
