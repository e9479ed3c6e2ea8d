// Runs in user-mode Linux: a sweep of a real model over a real netem, with delay, rate and loss.
#include <integration/driver_fixture.hpp>

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

constexpr const char* kNetwork = R"({"forward": {"delay": "10 ms", "rate": "50 Mbit/s", "loss": "0.1 %"},
                                     "backward": {"delay": "5 ms", "rate": "20 Mbit/s"}})";
constexpr double kForwardBitPerNs = 0.05;
constexpr std::int64_t kRoundTripNs = 15'000'000;

struct Swept {
  explicit Swept(const std::string& settings) : shell(Shell::Stages::real) {
    shell.write("uplink.json", kNetwork);
    const auto outcome = shell.run("sweep " + settings +
                                   " --data random --warmup 1 --repeat 1 --repeat-slow 0 --network ./uplink.json "
                                   "--shaping netem --out out");
    INFO(outcome.output << outcome.errors);
    CHECK(outcome.exit_code <= 1);  // 1: a busy machine may spoil a probe, and the trial then says so
    records = shell.records();
    REQUIRE(records.size() == 3);
    for (const auto& record : records) {
      INFO(record.trial.label());
      REQUIRE(record.status != record::Status::failed);
      CHECK(record.trial.shaping == experiment::Shaping::netem);
      CHECK(record.network->read_back.forward.rate_bit_per_s == 50'000'000);
      CHECK(record.network->read_back.backward.rate_bit_per_s == 20'000'000);
    }
  }

  Shell shell;
  std::vector<record::TrialRecord> records;
};

}  // namespace

TEST_CASE("MobileNetV2 is swept over a kernel's netem with delay, rate and loss, and every trial shows the network") {
  const Swept swept("--model mobilenet_v2 --split 0,7,20 --batches 3");
  for (const auto& record : swept.records) {
    INFO(record.trial.label());
    CHECK(record.fidelity->kept());
    CHECK(record.network->read_back.forward.delay == record.trial.network.forward.delay);
    CHECK(record.network->read_back.forward.loss == Approx(0.001).epsilon(0.01));
    CHECK(*record.network->round_trip_ns >= kRoundTripNs);
    if (record.trial.all_local()) continue;
    // Physics, from below only: no batch can cross faster than delay and rate allow.
    const auto payload_bits = static_cast<double>(record.links.front().payload_bytes) * 8;
    CHECK(record.summary->links.front().transfer_p50_ns >= 10e6 + payload_bits / kForwardBitPerNs * 0.9);
    CHECK(record.summary->latency->min_ns >= static_cast<double>(kRoundTripNs));
  }
}

TEST_CASE("two, three and four stages train over a kernel's netem, with the weights of one process") {
  const auto [stages, cuts] = GENERATE(std::pair(2, "--split 31"), std::pair(3, "--stages 3 --partitions 10,31"),
                                       std::pair(4, "--stages 4 --partitions 10,31,50"));
  const Swept swept(fmt::format(
      "--task train --model densenet_cifar {} --batch 4 --micro-batch 2 --schedule gpipe,1f1b,pipedream --steps 3",
      cuts));
  for (const auto& record : swept.records) {
    INFO(record.trial.label());
    CHECK(record.training->verified_steps == 2);
    // A micro-batch goes over all links, and its gradient comes back over all of them.
    CHECK(record.summary->training->step.min_ns >= static_cast<double>((stages - 1) * kRoundTripNs));
  }
}
