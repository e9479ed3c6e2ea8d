// One suite over every kind of link between the stages: the loopback, the kernel's shaping between namespaces, the
// relay.
#include <array>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "executor_fixture.hpp"
#include "shaping/machine_state.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using experiment::Shaping;

namespace {

/// A trial over a link of this kind; where it shapes, over a rate, which every kernel's tbf knows.
experiment::Trial trial_over(Shaping kind) {
  auto trial = trial_at({1});
  trial.shaping = kind;
  if (kind == Shaping::none) return trial;
  trial.network.name = "paced";
  trial.network.forward.rate_bit_per_s = 80'000'000;
  trial.network.backward.rate_bit_per_s = 40'000'000;
  return trial;
}

void need_kind(Shaping kind) {
  if (kind == Shaping::netem) support::need(support::capabilities().tbf);
}

/// From a stage to another, and back from one to another.
using Ways = std::vector<std::array<int, 4>>;

void check_probes(Shaping kind, int stages, const experiment::Placement& placement, const Ways& expected) {
  CAPTURE(stages, placement);
  const auto probes = shaping::make_network(kind, stages, placement)->apply(trial_over(kind).network, -1).probes;
  Ways ways;
  for (const auto& probe : probes) {
    ways.push_back({probe.from, probe.to, probe.back_from, probe.back_to});
    const auto away = experiment::way_between(placement, probe.from, probe.to) == experiment::Way::forward;
    CAPTURE(probe.from, probe.to, probe.forward_bit_per_s, probe.backward_bit_per_s);
    CHECK(probe.forward_bit_per_s < (away ? 85e6 : 45e6));
    CHECK(probe.backward_bit_per_s < (away ? 45e6 : 85e6));
  }
  CHECK(ways == expected);
  for (std::size_t i = 1; i < probes.size(); ++i) {  // one after the other
    CHECK(probes[i - 1].before_trial_ns >= probes[i].before_trial_ns + probes[i].took_ns);
  }
}

}  // namespace

TEST_CASE("a trial runs over every kind of link, and its record says what the link did", "[needs:tbf]") {
  const auto kind = GENERATE(Shaping::none, Shaping::netem, Shaping::emulated);
  CAPTURE(to_string(kind));
  need_kind(kind);
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto trial = trial_over(kind);
  const auto record = executor.run(trial);
  INFO((record.failure ? record.failure->reason : std::string()));
  REQUIRE(record.status != record::Status::failed);
  CHECK(record.fidelity->max_abs_difference == 0);
  REQUIRE(record.network.has_value() == (kind != Shaping::none));
  if (kind == Shaping::none) return;
  CHECK(record.network->read_back.forward.rate_bit_per_s == 80'000'000);
  CHECK(record.network->read_back.backward.rate_bit_per_s == 40'000'000);
  CHECK(*record.network->forward_bit_per_s < 85e6);
  CHECK(*record.network->backward_bit_per_s < 45e6);
  REQUIRE(record.network->probes.size() == 1);
  const auto& probe = record.network->probes.front();
  CHECK(probe.forward_bit_per_s == *record.network->forward_bit_per_s);
  CHECK(probe.took_ns > 1'000'000'000);  // two transfers, each longer than half a second
  CHECK(probe.before_trial_ns > 0);
  if (record.network->deviations.empty()) {  // otherwise the next trial has a probe of its own
    CHECK(executor.run(trial).network->probes.front().before_trial_ns > probe.before_trial_ns);
  }
  // 4 kB at 80 Mbit/s, less the bucket that the kernel's shaping must have.
  if (kind == Shaping::emulated) CHECK(record.summary->links.front().transfer_p50_ns >= 4000 * 8 / 0.08 * 0.9);
  // Only a relay can be late, and only of this trial it tells: every batch there and back in a few pieces, no probe.
  REQUIRE(record.network->lateness.has_value() == (kind == Shaping::emulated));
  if (kind == Shaping::netem) return;
  const auto& lateness = *record.network->lateness;
  const auto batches = 2 * (trial.warmup + trial.batches);
  CHECK(lateness.deliveries >= 2 * batches);
  CHECK(lateness.deliveries <= 20 * batches);
  CHECK(lateness.max_ns > 0);
  CHECK(lateness.max_ns >= lateness.p99_ns);
}

TEST_CASE("a relay is probed on the way that tensors take, and there are others for the way back") {
  check_probes(Shaping::emulated, 2, {}, {{0, 1, 1, 0}});
  check_probes(Shaping::emulated, 3, {}, {{0, 1, 2, 0}, {1, 2, 2, 0}});
  check_probes(Shaping::emulated, 3, {0, 1, 0}, {{0, 1, 1, 0}, {1, 2, 2, 1}});
}

TEST_CASE("each of the kernel's links is probed both ways, and so is the one that results come back over",
          "[needs:tbf]") {
  need_kind(Shaping::netem);
  check_probes(Shaping::netem, 2, {}, {{0, 1, 1, 0}});
  check_probes(Shaping::netem, 3, {}, {{0, 1, 1, 0}, {1, 2, 2, 1}, {2, 0, 0, 2}});
}

TEST_CASE("a trial that sends nothing over an emulated link has no lateness") {
  run::PipelineExecutor executor(options_with(kFakeStage));
  auto trial = trial_over(Shaping::emulated);
  trial.split_points = {kBlocks};
  const auto record = executor.run(trial);
  REQUIRE(record.network.has_value());
  CHECK_FALSE(record.network->lateness.has_value());
}

TEST_CASE("a network is applied anew when a trial wants another one, on the same stage processes", "[needs:tbf]") {
  const auto kind = GENERATE(Shaping::netem, Shaping::emulated);
  CAPTURE(to_string(kind));
  need_kind(kind);
  run::PipelineExecutor executor(options_with(kFakeStage));
  auto fast = trial_over(kind);
  fast.network = {};
  REQUIRE(executor.run(fast).network->read_back == experiment::NetworkProfile{});
  const auto stages = support::own_children();
  const auto slow = executor.run(trial_over(kind));
  CHECK(slow.network->read_back.forward.rate_bit_per_s == 80'000'000);
  CHECK(executor.run(fast).network->read_back == experiment::NetworkProfile{});
  CHECK(support::own_children() == stages);
}

TEST_CASE("a stage that is killed over any kind of link is one failed trial, and the next one runs over the same kind",
          "[needs:tbf]") {
  const auto kind = GENERATE(Shaping::none, Shaping::netem, Shaping::emulated);
  CAPTURE(to_string(kind));
  need_kind(kind);
  const FaultOnce fault("kill@0-1@5");
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto killed = executor.run(trial_over(kind));
  REQUIRE(killed.status == record::Status::failed);
  CHECK(support::contains(killed.failure->reason, "killed by signal 9"));
  const auto next = executor.run(trial_over(kind));
  CHECK(next.status != record::Status::failed);
  CHECK(next.trial.shaping == kind);
}

TEST_CASE("no kind of link leaves a process, a namespace or an interface behind") {
  const auto before = support::machine_state();
  for (const auto kind : {Shaping::none, Shaping::netem, Shaping::emulated}) {
    if (kind == Shaping::netem && !support::capabilities().tbf.works) continue;
    run::PipelineExecutor executor(options_with(kFakeStage));
    CHECK(executor.run(trial_over(kind)).status != record::Status::failed);
  }
  CHECK(support::own_children().empty());
  CHECK(support::machine_state() == before);
}
