#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/network_profile.hpp>

#include <string>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using namespace std::chrono_literals;
using nlohmann::json;
using support::message_of;

namespace {

NetworkProfile read(const std::string& text) {
  return network_profile_from_json(json::parse(text), "mine");
}

/// What a profile with this "both" is refused with.
std::string profile_refusal(const std::string& both) {
  return message_of<UsageError>([&] { read("{\"both\": " + both + "}"); });
}

}  // namespace

TEST_CASE("a profile is read with its units, for both directions at once", "[network]") {
  const auto profile = read(R"({"description": "x", "both": {
      "delay": "20 ms", "jitter": "5ms", "distribution": "pareto", "rate": "5 Mbit/s", "burst": "32 kbit",
      "loss": "1 %", "reorder": 0.25, "duplicate": "0.1", "queue_packets": 500, "queue_latency": "400 ms"}})");
  LinkConditions expected;
  expected.delay = 20ms;
  expected.jitter = 5ms;
  expected.distribution = DelayDistribution::pareto;
  expected.rate_bit_per_s = 5'000'000;
  expected.burst_bytes = 4'000;
  expected.loss = 0.01;
  expected.reorder = 0.25;
  expected.duplicate = 0.1;
  expected.queue_packets = 500;
  expected.queue_latency = 400ms;
  CHECK(profile == NetworkProfile{"mine", expected, expected});
}

TEST_CASE("directions differ where they are written apart, and one left out is not shaped", "[network]") {
  const auto profile = read(R"({"forward": {"rate": "10 Mbit/s"}, "backward": {"rate": "40 Mbit/s"}})");
  CHECK(profile.forward.rate_bit_per_s == 10'000'000);
  CHECK(profile.backward.rate_bit_per_s == 40'000'000);
  const auto one_way = read(R"({"forward": {"delay": "1 ms"}})");
  CHECK(one_way.shaped());
  CHECK_FALSE(one_way.backward.shaped());
}

TEST_CASE("a profile that says nothing shapes nothing", "[network]") {
  CHECK_FALSE(read("{}").shaped());
  CHECK_FALSE(read(R"({"both": {}})").shaped());
  CHECK_FALSE(read(R"({"both": {"delay": "0 ms", "loss": 0}})").shaped());
}

TEST_CASE("unknown keys are refused with the key's path and the known ones", "[network]") {
  CHECK(profile_refusal(R"({"dealy": "1 ms"})") ==
        "network.both has an unknown key \"dealy\"; known keys: delay, jitter, distribution, rate, burst, loss, "
        "reorder, duplicate, queue_packets, queue_latency; did you mean \"delay\"?");
  CHECK_THROWS_WITH(read(R"({"name": "x"})"),
                    "network has an unknown key \"name\"; known keys: description, both, forward, backward");
  CHECK_THROWS_WITH(read(R"({"both": {}, "backward": {}})"),
                    "network has \"both\" and \"backward\"; write either \"both\", or one for each direction");
}

TEST_CASE("a value without its unit is refused with an example", "[network]") {
  CHECK(profile_refusal(R"({"delay": 20})") ==
        "network.both.delay: 20 has no unit; write it in quotes and with its unit, like \"20 ms\"");
  CHECK(profile_refusal(R"({"delay": "20"})") ==
        "network.both.delay: \"20\" has no unit of time; write it like 5ms, 1.5s, 250us or 800ns");
  CHECK(profile_refusal(R"({"rate": 5e6})") ==
        "network.both.rate: 5000000.0 has no unit; write it in quotes and with its unit, like \"5 Mbit/s\"");
  CHECK(profile_refusal(R"({"rate": "5 MB/s"})") ==
        "network.both.rate: \"5 MB/s\" has no unit of bits per second; write it like 5 Mbit/s, 1 Gbit/s or 500 kbit/s");
  CHECK(profile_refusal(R"({"rate": "1 Mbit/s", "burst": "4096"})") ==
        "network.both.burst: \"4096\" has no unit of data; write it like 4096 B, 4 kB, 4 KiB or 32 kbit");
  CHECK(profile_refusal(R"({"rate": null})") ==
        "network.both.rate: null has no unit; write it in quotes and with its unit, like \"5 Mbit/s\"");
}

TEST_CASE("nonsense is refused with a sentence", "[network]") {
  CHECK(profile_refusal(R"({"loss": 2})") ==
        "network.both.loss: \"2\" is more than certain; a probability is at most 1, or 100 %");
  CHECK(profile_refusal(R"({"loss": "101 %"})") ==
        "network.both.loss: \"101 %\" is more than certain; a probability is at most 1, or 100 %");
  CHECK(profile_refusal(R"({"loss": -0.5})") ==
        "network.both.loss: \"-0.5\" is not a probability; write it like 1 % or 0.01");
  CHECK(profile_refusal(R"({"loss": true})") ==
        "network.both.loss: true is not a probability; write it like \"1 %\" or 0.01");
  CHECK(profile_refusal(R"({"loss": "100 %"})") == "network.both.loss is 1; nothing would ever arrive");
  CHECK(profile_refusal(R"({"delay": "-1 ms"})") ==
        "network.both.delay: \"-1 ms\" is not a duration; write it like 5ms, 1.5s, 250us or 800ns");
  CHECK(profile_refusal(R"({"delay": "2000 s"})") == "network.both.delay is 2000 s; it must be from 0 ns to 60.0 s");
  CHECK(profile_refusal(R"({"rate": "1 bit/s"})") ==
        "network.both.rate is 1 bit/s; it must be from 10 kbit/s to 100 Gbit/s");
  CHECK(profile_refusal(R"({"rate": "1 Mbit/s", "burst": "100 B"})") ==
        "network.both.burst is 100 bytes; it must be from 1514 (a smaller bucket lets no whole frame pass) to "
        "1000000000");
  CHECK(profile_refusal(R"({"queue_packets": 0})") == "network.both.queue_packets is 0; it must be from 1 to 10000000");
  CHECK(profile_refusal(R"({"queue_packets": "1000"})") ==
        "network.both.queue_packets has the wrong type or range: \"1000\"");
  CHECK(profile_refusal(R"({"delay": "1 ms", "jitter": "1 ms", "distribution": "gauss"})") ==
        "network.both.distribution: \"gauss\" is not known; it must be one of \"uniform\", \"normal\", \"pareto\", "
        "\"paretonormal\"");
}

TEST_CASE("values that need another one are refused without it", "[network]") {
  CHECK(profile_refusal(R"({"jitter": "1 ms"})") == "network.both.jitter needs a delay that it can scatter");
  CHECK(profile_refusal(R"({"delay": "1 ms", "jitter": "2 ms"})") ==
        "network.both.jitter is larger than the delay; packets would have to arrive before they are sent");
  CHECK(profile_refusal(R"({"delay": "1 ms", "distribution": "normal"})") ==
        "network.both.distribution needs a jitter whose distribution it is");
  CHECK(profile_refusal(R"({"burst": "32 kbit"})") ==
        "network.both.burst needs a rate: it is the depth of the rate's token bucket");
  CHECK(profile_refusal(R"({"reorder": "1 %"})") ==
        "network.both.reorder needs a delay: a reordered packet is one that skips it");
  CHECK(profile_refusal(R"({"queue_latency": "1 ms"})") ==
        "network.both.queue_latency needs a rate: without one nothing waits");
}

TEST_CASE("what is wrong in one direction is named with that direction", "[network]") {
  CHECK_THROWS_WITH(read(R"({"forward": {}, "backward": {"loss": 1}})"),
                    "network.backward.loss is 1; nothing would ever arrive");
  CHECK_THROWS_WITH(read(R"({"forward": []})"), "network.forward must be a JSON object, not array");
  CHECK_THROWS_WITH(read("[]"), "network must be a JSON object, not array");
}

TEST_CASE("a profile survives its JSON in a record, and what is not shaped is left out", "[network]") {
  NetworkProfile profile{"mine", {}, {}};
  CHECK(json(profile).dump() == R"({"backward":{},"forward":{},"name":"mine"})");
  CHECK(json(profile).get<NetworkProfile>() == profile);

  auto& forward = profile.forward;
  forward.delay = 20ms;
  forward.jitter = 1500us;
  forward.distribution = DelayDistribution::paretonormal;
  forward.rate_bit_per_s = 5'000'000;
  forward.burst_bytes = 4'096;
  forward.loss = 0.01;
  forward.reorder = 0.25;
  forward.duplicate = 0.5;
  forward.queue_packets = 100;
  forward.queue_latency = 400ms;
  profile.backward.delay = 1ms;
  CHECK(json(profile).get<NetworkProfile>() == profile);
  CHECK(json(forward).at("delay_ns") == 20'000'000);
  CHECK(json(forward).at("distribution") == "paretonormal");
  CHECK(json(forward).at("queue_latency_ns") == 400'000'000);
  CHECK(json(profile.backward).dump() == R"({"delay_ns":1000000})");
}

TEST_CASE("what a network did survives its JSON in a record, and what was not measured is left out", "[network]") {
  NetworkEvidence evidence;
  CHECK(json(evidence).dump() == R"({"deviations":[],"read_back":{"backward":{},"forward":{},"name":"unshaped"}})");
  CHECK(json(evidence).get<NetworkEvidence>() == evidence);  // as in records of before lateness was measured
  evidence.round_trip_ns = 40'000'000;
  evidence.forward_bit_per_s = 4.8e6;
  evidence.lateness = Lateness{1'000'000, 500, 3, 60'000, 900'000, 8'000'000};
  evidence.deviations = {"late"};
  CHECK_FALSE(json(evidence).contains("probes"));  // as in records of before each probe was kept
  evidence.probes = {{0, 1, 2, 0, 900'000'000, 2'000'000'000, 40'000'000, 4.8e6, 2.4e6}};
  CHECK(
      json(evidence).at("probes").dump() ==
      R"([{"back_from":2,"back_to":0,"backward_bit_per_s":2400000.0,"before_trial_ns":2000000000,"forward_bit_per_s":4800000.0,"from":0,"round_trip_ns":40000000,"to":1,"took_ns":900000000}])");
  CHECK(json(evidence).get<NetworkEvidence>() == evidence);
  CHECK(json(evidence).at("lateness").dump() ==
        R"({"deliveries":500,"late":3,"max_ns":8000000,"mean_ns":60000,"p99_ns":900000,"tolerance_ns":1000000})");
}

TEST_CASE("a link between devices names the interface that a kernel shaped, and a relay's names none", "[network]") {
  const EmulatedLinkSite relayed{0, 1, "pi", 200'000};
  const EmulatedLinkSite leased{0, 1, "pi", 200'000, "eth0"};
  CHECK_FALSE(json(relayed).contains("interface"));  // as in records of before it was kept
  CHECK(json(leased).at("interface") == "eth0");
  for (const auto& link : {relayed, leased}) CHECK(json(link).get<EmulatedLinkSite>() == link);
}
