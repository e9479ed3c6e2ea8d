#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/kernel/shaped_link.hpp>

#include <string>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "links.hpp"

using namespace paretopipe;
using namespace paretopipe::shaping;
using namespace std::chrono_literals;
using experiment::LinkConditions;
using Sentences = std::vector<std::string>;

// What `tc -j qdisc show` of iproute2 6.1 printed, word for word.
namespace printed {

const std::string kTbf =
    R"([{"kind":"tbf","handle":"1:","root":true,"refcnt":3,"options":{"rate":625000,"burst":4095,"lat":400000}}])";
const std::string kDelay =
    R"([{"kind":"netem","handle":"1:","root":true,"refcnt":2,"options":{"limit":5000,"delay":{"delay":0.2,"jitter":0,"correlation":0},"ecn":false,"gap":0}}])";
const std::string kDelayRate =
    R"([{"kind":"netem","handle":"1:","root":true,"refcnt":2,"options":{"limit":1000,"delay":{"delay":0.025,"jitter":0.005,"correlation":0},"rate":{"rate":1250000,"packetoverhead":0,"cellsize":0,"celloverhead":0},"ecn":false,"gap":0}}])";
const std::string kAll =
    R"([{"kind":"netem","handle":"1:","root":true,"refcnt":2,"options":{"limit":1000,"delay":{"delay":0.02,"jitter":0.005,"correlation":0},"loss-random":{"loss":0.01,"correlation":0},"duplicate":{"duplicate":0.001,"correlation":0},"reorder":{"reorder":0.25,"correlation":0},"rate":{"rate":125000000000,"packetoverhead":0,"cellsize":0,"celloverhead":0},"ecn":false,"gap":1}}])";
const std::string kRounded =
    R"([{"kind":"netem","handle":"1:","root":true,"refcnt":2,"options":{"limit":1000,"delay":{"delay":0.001233,"jitter":9.9e-05,"correlation":0},"ecn":false,"gap":0}}])";
const std::string kPublished =
    R"([{"kind":"netem","handle":"1:","root":true,"refcnt":2,"options":{"limit":5000,"delay":{"delay":0.2,"jitter":0,"correlation":0},"ecn":false,"gap":0}},{"kind":"tbf","handle":"2:","parent":"1:1","options":{"rate":625000,"burst":4095,"lat":400000}}])";

}  // namespace printed

TEST_CASE("what tbf and netem apply is read back, and nothing where there is neither", "[read-back]") {
  CHECK(read_back("[]") == LinkConditions{});
  CHECK(read_back(R"([{"kind":"noqueue","handle":"0:","root":true,"refcnt":2,"options":{}}])") == LinkConditions{});
  const auto applied = read_back(printed::kTbf);
  CHECK(applied.rate_bit_per_s == 5'000'000);
  CHECK(applied.burst_bytes == 4'095);
  CHECK(applied.queue_latency == 400ms);
  CHECK(applied.delay == 0ns);
  CHECK(read_back(printed::kDelay).delay == 200ms);
  CHECK(read_back(printed::kDelay).queue_packets == 5'000);
  const auto paced = read_back(printed::kDelayRate);
  CHECK(paced.delay == 25ms);
  CHECK(paced.jitter == 5ms);
  CHECK(paced.rate_bit_per_s == 10'000'000);
  const auto all = read_back(printed::kAll);
  CHECK(all.loss == 0.01);
  CHECK(all.duplicate == 0.001);
  CHECK(all.reorder == 0.25);
  CHECK_FALSE(all.rate_bit_per_s);  // it only keeps packets in order
}

TEST_CASE("what the kernel rounds, and a distribution, which cannot be read, are no difference", "[read-back]") {
  CHECK(differences(experiment::load_network_profile("published").forward, read_back(printed::kPublished)).empty());
  auto requested = delayed_link(1'234'567ns);
  requested.jitter = 100us;
  CHECK(differences(requested, read_back(printed::kRounded)).empty());
  auto slow = paced_link(123'456);
  slow.burst_bytes = 1'600;
  slow.queue_latency = 3333us;
  const auto applied = read_back(
      R"([{"kind":"tbf","handle":"1:","root":true,"refcnt":3,"options":{"rate":15432,"burst":1599,"lat":3305}}])");
  CHECK(differences(slow, applied).empty());
  auto scattered = paced_link(10'000'000, 25ms);
  scattered.jitter = 5ms;
  scattered.distribution = experiment::DelayDistribution::normal;
  CHECK(differences(scattered, read_back(printed::kDelayRate)).empty());
}

TEST_CASE("every value that differs has its sentence", "[read-back]") {
  auto requested = paced_link(1'000'000, 20ms);
  requested.jitter = 4ms;
  requested.loss = 0.02;
  requested.queue_packets = 2'000;
  CHECK(differences(requested, read_back(printed::kAll)) ==
        Sentences{"a jitter of 4.00 ms was requested, but the kernel reports 5.00 ms",
                  "a rate was requested, but the kernel reports none",
                  "a loss of 2 % was requested, but the kernel reports 1 %",
                  "a reordering of 0 % was requested, but the kernel reports 25 %",
                  "a duplication of 0 % was requested, but the kernel reports 0.1 %",
                  "a queue of 2000 packets was requested, but the kernel reports 1000 packets"});
  CHECK(differences({}, read_back(printed::kTbf)) == Sentences{"no rate was requested, but the kernel reports one"});
  auto faster = paced_link(6'000'000);
  faster.burst_bytes = 8'000;
  faster.queue_latency = 100ms;
  CHECK(differences(faster, read_back(printed::kTbf)) ==
        Sentences{"a rate of 6 Mbit/s was requested, but the kernel reports 5 Mbit/s",
                  "a burst of 8000 bytes was requested, but the kernel reports 4095 bytes",
                  "a queue latency of 100 ms was requested, but the kernel reports 400 ms"});
}

TEST_CASE("a qdisc of somebody else's, and what is no JSON, are errors", "[read-back]") {
  using support::contains;
  using support::message_of;
  CHECK(message_of<EnvironmentError>([] { read_back(R"([{"kind":"htb","root":true,"options":{}}])"); }) ==
        "the interface has a qdisc that paretopipe did not put there: htb");
  CHECK(contains(message_of<EnvironmentError>([] { read_back("Cannot find device"); }),
                 "it printed: Cannot find device"));
  CHECK_THROWS_AS(read_back(R"([{"kind":"netem"}])"), EnvironmentError);
}
