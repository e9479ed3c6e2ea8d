// Networks between devices: each link has its profile from a relay that the sender's machine runs beside the stage.
#include <tuple>

#include <support/scoped_variable.hpp>

#include "executor_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using experiment::Shaping;

namespace {

run::ExecutorOptions with_devices() {
  return options_on({device_over("pi"), device_over("nano")});
}

experiment::Trial slow_between_two() {
  auto trial = on({"local", "pi"}, paced_over(Shaping::emulated));
  trial.network.forward.delay = std::chrono::milliseconds(15);
  trial.network.backward.delay = std::chrono::milliseconds(5);
  return trial;
}

void require_measured(const record::TrialRecord& record) {
  require_not_failed(record);
  REQUIRE(record.network.has_value());
}

/// From one stage to another, on the device.
using Site = std::tuple<int, int, std::string>;

std::vector<Site> sites_of(const record::TrialRecord& record) {
  std::vector<Site> sites;
  for (const auto& link : record.network->links) sites.emplace_back(link.from, link.to, link.emulated_on);
  return sites;
}

}  // namespace

TEST_CASE("a network between devices is emulated by the sender's machine, and the record says so for each link") {
  run::PipelineExecutor executor(with_devices());
  const auto trial = slow_between_two();
  const auto record = executor.run(trial);
  require_measured(record);
  check_survives_writing(record);
  CHECK(sites_of(record) == std::vector<Site>{{0, 1, "local"}, {1, 0, "pi"}});
  const auto& network = *record.network;
  CHECK(network.read_back == trial.network);
  REQUIRE(network.probes.size() == 2);
  for (const auto& probe : network.probes) {
    CAPTURE(probe.from, probe.round_trip_ns, probe.forward_bit_per_s, probe.backward_bit_per_s);
    CHECK(probe.round_trip_ns >= 20'000'000);
    CHECK(probe.forward_bit_per_s < (probe.from == 0 ? 85e6 : 45e6));
    CHECK(probe.backward_bit_per_s < (probe.from == 0 ? 45e6 : 85e6));
  }
  for (const auto& link : network.links) {
    CHECK(link.own_round_trip_ns > 0);
    CHECK(link.own_round_trip_ns < 20'000'000);
    CHECK(link.lateness.has_value());
  }
  CHECK(network.lateness->deliveries == network.links[0].lateness->deliveries + network.links[1].lateness->deliveries);
  // 4 kB at 80 Mbit/s; frames of both ways take a profile's delays, which the latency of a batch has in full.
  CHECK(record.summary->links.front().transfer_p50_ns >= 4000 * 8 / 0.08 * 0.9);
  CHECK(record.summary->latency->p50_ns >= 20e6);
}

TEST_CASE("what a network does to frames between devices ends with the trials that ask for it") {
  run::PipelineExecutor executor(with_devices());
  const auto slow = executor.run(slow_between_two());
  require_measured(slow);
  auto unshaped = slow_between_two();
  unshaped.network = {};
  const auto fast = executor.run(unshaped);
  require_measured(fast);
  CHECK(fast.network->read_back == experiment::NetworkProfile{});
  CHECK(fast.network->probes.front().round_trip_ns < 20'000'000);
  CHECK(fast.summary->latency->p50_ns < slow.summary->latency->p50_ns);
  unshaped.shaping = Shaping::none;
  CHECK_FALSE(executor.run(unshaped).network.has_value());
}

TEST_CASE("between stages of one device there is no network, and none that leads nowhere is made") {
  run::PipelineExecutor executor(with_devices());
  const auto there_and_back =
      executor.run(on({"local", "pi", "local"}, paced_over(Shaping::emulated, trial_at({1, 2}))));
  require_measured(there_and_back);
  CHECK(sites_of(there_and_back) == std::vector<Site>{{0, 1, "local"}, {1, 2, "pi"}});
  const auto alone = executor.run(on({"pi", "pi"}, paced_over(Shaping::emulated)));
  require_measured(alone);
  CHECK(alone.network->links.empty());
  CHECK_FALSE(alone.network->lateness.has_value());
}

TEST_CASE("batches are dealt out to devices over links that are emulated there and here, whatever ran before") {
  run::PipelineExecutor executor(with_devices());
  require_measured(executor.run(on({"local", "pi", "nano"}, paced_over(Shaping::emulated, trial_at({1, 2})))));
  const auto record = executor.run(on({"local", "pi", "nano"}, paced_over(Shaping::emulated, dealt_to(3))));
  require_measured(record);
  CHECK(sites_of(record) ==
        std::vector<Site>{{0, 1, "local"}, {0, 2, "local"}, {1, 0, "pi"}, {1, 2, "pi"}, {2, 0, "nano"}});
  check_paced(record);
}

TEST_CASE("encrypted frames cross an emulated link between devices, too") {
  run::PipelineExecutor executor(with_devices());
  auto trial = slow_between_two();
  trial.encryption = experiment::Encryption::tls;
  require_measured(executor.run(trial));
}

TEST_CASE("relays end with their stages, and the next trial has new ones that were probed anew") {
  const auto before = support::machine_state();
  {
    const FaultOnce fault("kill@0-1@5");
    run::PipelineExecutor executor(with_devices());
    CHECK(contains(failure_of(executor.run(slow_between_two())).reason, "killed by signal 9"));
    const auto next = executor.run(slow_between_two());
    require_measured(next);
    CHECK(next.summary->latency->p50_ns >= 20e6);
  }
  CHECK(support::own_children().empty());
  CHECK(support::machine_state() == before);
}

TEST_CASE("a relay that cannot be started is one sentence, with the stage and the reason") {
  const support::ScopedVariable program("PARETOPIPE_STAGE", "/nowhere/paretopipe-stage");
  auto options = with_devices();
  options.devices["pi"].launch = {"env", "--unset=PARETOPIPE_STAGE"};
  run::PipelineExecutor executor(options);
  try {
    executor.run(slow_between_two());
    FAIL("it ran");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::environment);
    check_contains(error.what(), {"stage 0 on local", "/nowhere/paretopipe-stage"});
  }
}
