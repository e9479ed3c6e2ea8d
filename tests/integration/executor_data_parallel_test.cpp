// Batches dealt out to devices that each hold the whole model: real processes, joined to a star beside the ring.
#include <paretopipe/analysis/stats/summarise.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "executor_fixture.hpp"
#include "shaping/machine_state.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using experiment::Shaping;
using support::contains;

namespace {

constexpr std::size_t kPhaseBatches = 8;  // of trial_at()

experiment::Trial dealt_to(int devices) {
  auto trial = trial_at({});
  trial.data_parallel = devices;
  trial.cpus.assign(static_cast<std::size_t>(devices), "");
  return trial;
}

/// Every batch of one phase was computed right where it was its turn, and has crossed a link only for that.
void require_dealt(const record::PhaseSamples& samples, std::size_t devices) {
  REQUIRE(samples.devices == static_cast<int>(devices));
  REQUIRE(samples.stages.size() == 2);
  REQUIRE(samples.results.completed.size() == kPhaseBatches * static_cast<std::size_t>(samples.micro_batches));
  for (std::size_t entry = 0; entry < samples.results.completed.size(); ++entry) {
    CAPTURE(entry);
    const auto batch = entry / static_cast<std::size_t>(samples.micro_batches);
    const auto handed_over = samples.stages[0].ready[entry];
    CHECK((samples.stages[1].receive_end[entry] > handed_over) == (batch % devices != 0));
    CHECK(samples.stages[1].compute_end[entry] > handed_over);
    CHECK(samples.results.completed[entry] >= samples.stages[1].send_begin[entry]);
  }
}

void require_sound(const record::TrialRecord& record, std::size_t devices) {
  INFO((record.failure ? record.failure->reason : std::string()));
  REQUIRE(record.status != record::Status::failed);
  CHECK(record.fidelity->max_abs_difference == 0);
  CHECK(record.fidelity->batches_compared == 2 * static_cast<int>(kPhaseBatches));
  require_dealt(*record.single_stream, devices);
  require_dealt(*record.offline, devices);
  REQUIRE(record.stages.size() == devices);
  for (const auto& stage : record.stages) CHECK(stage.blocks == experiment::BlockRange{0, kBlocks});
  CHECK(record.summary->stages.size() == devices);
  CHECK(record.summary->links.size() == 2 * (devices - 1));
  CHECK_NOTHROW(stats::check_summary(record));
  const nlohmann::json written = record;
  CHECK(nlohmann::json::parse(written.dump()).get<record::TrialRecord>() == record);
}

}  // namespace

TEST_CASE("batches are dealt out to two and three devices, over every kind of link that reaches them", "[needs:tbf]") {
  const int devices = GENERATE(2, 3);
  const auto kind = GENERATE(Shaping::none, Shaping::netem, Shaping::emulated);
  CAPTURE(devices, to_string(kind));
  if (kind == Shaping::netem && devices > 2) return;  // the kernel's links join two
  if (kind == Shaping::netem) support::need(support::capabilities().tbf);
  auto trial = dealt_to(devices);
  trial.shaping = kind;
  if (kind != Shaping::none) {
    trial.network.name = "paced";
    trial.network.forward.rate_bit_per_s = 80'000'000;
    trial.network.backward.rate_bit_per_s = 40'000'000;
  }
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto record = executor.run(trial);
  require_sound(record, static_cast<std::size_t>(devices));
  if (kind != Shaping::emulated) return;
  for (const auto& link : record.summary->links) {
    const auto& payload = record.links[static_cast<std::size_t>(&link - record.summary->links.data())].payload_bytes;
    CHECK(link.transfer_p50_ns >= static_cast<double>(payload) * 8 / (link.to == 0 ? 0.04 : 0.08) * 0.9);
  }
}

TEST_CASE("the same processes run pipelines and deal batches out by turns") {
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto before = executor.run(trial_at({1, 2}));
  CHECK(before.status == record::Status::ok);
  const auto processes = support::own_children();
  for (int turn = 0; turn < 2; ++turn) {
    auto trial = dealt_to(3);
    trial.repetition = turn;
    require_sound(executor.run(trial), 3);
    CHECK(executor.run(trial_at({2, 2}, turn)).fidelity->max_abs_difference == 0);
  }
  CHECK(support::own_children() == processes);
}

TEST_CASE("a batch that is cut into micro-batches is dealt out whole") {
  auto trial = dealt_to(3);
  trial.batch = 6;
  trial.micro_batch = 2;
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto record = executor.run(trial);
  require_sound(record, 3);
  CHECK(record.offline->micro_batches == 3);
}

TEST_CASE("a device that dies or breaks is named, and the next trial gets new processes") {
  struct Fault {
    std::string text;
    int device;
    std::string reason;
  };
  // The device computes all sixteen batches of a trial before.
  const auto fault = GENERATE(values<Fault>({{"kill@0-3@18", 0, "stage 0 was killed by signal 9"},
                                             {"kill@0-3@18", 2, "stage 2 was killed by signal 9"},
                                             {"throw@0-3@18", 2, "the block broke on purpose"}}));
  CAPTURE(fault.text);
  const FaultOnce once(fault.text);
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto before = fault.device == 0 ? trial_at({kBlocks, kBlocks}) : trial_at({0, 0});
  REQUIRE(executor.run(before).status == record::Status::ok);
  const auto record = executor.run(dealt_to(3));
  REQUIRE(record.status == record::Status::failed);
  CHECK(record.failure->phase == "run");
  CHECK(record.failure->stage == fault.device);
  CHECK(contains(record.failure->reason, fault.reason));
  CHECK(support::own_children().empty());
  require_sound(executor.run(dealt_to(3)), 3);
}

TEST_CASE("a wrong output of one device fails the trial") {
  const FaultOnce once("wrong@0-3@10");  // not one of the eight that are computed for comparison
  run::PipelineExecutor executor(options_with(kFakeStage));
  auto trial = dealt_to(2);
  trial.batches = 14;
  const auto record = executor.run(trial);
  REQUIRE(record.status == record::Status::failed);
  CHECK(record.failure->phase == "check");
}
