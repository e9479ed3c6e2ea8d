// Training as a task of a sweep, as from a shell.
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/experiment/schedule.hpp>
#include <paretopipe/record/labels.hpp>

#include <algorithm>
#include <csignal>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

/// Stage 0 takes 4 + 6 ms a micro-batch if it is cut in the middle, as does stage 1.
const std::string kEvenModel = "synthetic:4ms+6ms/4kB,4ms+6ms";
const Words kTask = sweep_of(kEvenModel) + "--task train --batch 8 --warmup 1 --repeat 1";
const Words kTrain = kTask + "--micro-batch 2 --steps 4";

double median_step_ms(const record::TrialRecord& record) {
  return record.summary->training->step.p50_ns / 1e6;
}

/// Its first steps have the reference's weights, and of every stage the parts of a step add up to the time between two.
void check_trained(const record::TrialRecord& record) {
  INFO(record.trial.label());
  REQUIRE(record.status == record::Status::ok);
  CHECK(record.training->verified_steps == 2);
  CHECK_NOTHROW(stats::check_summary(record));
  const auto& summary = *record.summary->training;
  const double interval = 1e9 * record.trial.batch / summary.sample_per_s;
  for (const auto& stage : summary.stages) {
    CHECK(stage.all_ns() == Approx(interval).epsilon(1e-9));
  }
}

}  // namespace

TEST_CASE("every split is trained with every schedule and micro-batch, checked, and its parts add up") {
  const Shell shell;
  shell.run(0, kTask + "--micro-batch 2,4 --steps 4 --schedule gpipe,1f1b,pipedream");
  const auto records = shell.records();
  CHECK(records.size() == 3 * 2 * 3);
  for (const auto& record : records) {
    check_trained(record);
    const bool cut = record.trial.split_points.front() == 1;
    CHECK(record.links.size() == (record.trial.all_local() ? 0 : 2));
    if (cut) CHECK(record.links[1].payload_bytes == record.trial.micro_batches() * 4000);
  }
  const auto said = shell.run(0, "frontier out").output;
  check_contains(said, {"step_time", "peak_memory", "1 1f1b/2", "1 pipedream/4", "2 gpipe/4 local"});
  check_contains(
      shell.run(0, "explain out").output,
      {"A step of 8 samples takes", "its schedule could reach", "stage 1", "waiting", "Stage 0 computes longest",
       "One device that trains alone (2/2 all local", "The most samples a second are"});
  const auto explained = shell.as_json("explain out");
  for (const auto& one : explained["groups"][0]["configurations"]) CHECK(one.at("reached") > 0);
  check_contains(shell.run(0, "compare out out").output, {"step_time", "training_throughput", "peak_memory"});
  check_contains(shell.run(0, "explain out --split 1 --format markdown").output, {"| a step", "| forward"});
  export_in(shell, {"trials", "stages"});
  CHECK(contains(shell.text("exported/trials.csv"), "pipedream"));
  const auto stages = shell.text("exported/stages.csv");
  for (const auto& record : records) {
    for (const auto& stage : record.summary->training->stages) {
      CHECK(contains(
          stages, fmt::format(",{},{},{},{},", record::format_number(stage.utilisation()),
                              record::format_number(1 - stage.utilisation()), record::format_number(stage.forward_ns),
                              record::format_number(stage.backward_ns))));
    }
  }
  CHECK(contains(shell.run(0, "frontier out --objective training_throughput --objective bubble").output, "1 gpipe/2"));
}

TEST_CASE("a step takes at least what its schedule takes") {
  const Shell shell;
  shell.run(0, kTask + "--micro-batch 2 --split 1,2 --schedule gpipe --steps 6");
  for (const auto& record : shell.records()) {
    const bool cut = record.trial.split_points.front() == 1;
    CHECK(median_step_ms(record) >= (cut ? 10 * (4 + 1) : 20 * 4));
    // One stage alone never waits; of two, each waits for the other's first or last micro-batch.
    const auto bubble = record.summary->training->expected_bubble;
    CHECK((cut ? bubble > 0.01 : bubble < 1e-3));
  }
}

TEST_CASE("one micro-batch that is computed wrong, a killed stage and a loss that is no number fail their trial only") {
  const auto [fault, said] =
      GENERATE(table<const char*, const char*>({{"wrong@1-2@3", "not those of one process that trained alike"},
                                                {"kill@1-2@12", "stage 1"},
                                                {"nan@1-2@12", "the training diverges; a lower --lr may help"}}));
  const Shell shell;
  const support::FaultOnce once(fault);
  const auto outcome = shell.run(1, kTrain + "--split 1 --schedule gpipe,1f1b");
  INFO(outcome.errors);
  CHECK(contains(outcome.errors, said));
  CHECK(count(shell.records(), record::Status::failed) == 1);
  CHECK(count(shell.records(), record::Status::ok) == 1);
  shell.run(0, kTrain + "--split 1 --schedule gpipe,1f1b --resume");
  CHECK(count(shell.records(), record::Status::ok) == 2);
}

TEST_CASE("codecs are measured in training: without loss checked to the bit, with loss beside the losses without it") {
  const Shell shell;
  shell.run(0, kTrain + "--split 1 --codec none,zstd,sort8");
  const auto records = shell.records();
  REQUIRE(records.size() == 3);
  const auto is_plain = [](const auto& record) { return record.trial.codec == "none"; };
  const auto& plain = *std::find_if(records.begin(), records.end(), is_plain)->training;
  for (const auto& record : records) {
    INFO(record.trial.label());
    REQUIRE(record.status == record::Status::ok);
    CHECK_NOTHROW(stats::check_summary(record));
    const bool lossy = record.trial.codec == "sort8", encoded = record.trial.codec != "none";
    const auto& training = *record.training;
    CHECK(training.verified_steps == (lossy ? 0 : 2));
    CHECK((training.losses == plain.losses) == !lossy);
    CHECK(training.lossy.has_value() == lossy);
    for (const auto& link : record.links) {
      CHECK(link.unencoded_bytes == (encoded ? std::optional<std::int64_t>(4 * 4000) : std::nullopt));
      if (lossy) CHECK(link.payload_bytes < *link.unencoded_bytes);
    }
    if (!lossy) continue;
    CHECK(training.lossy->first_losses.size() == 2);
    auto rest = training.lossy->uncompressed_losses;
    rest.erase(rest.begin(), rest.begin() + 2);
    CHECK(rest == plain.losses);
    CHECK(record.summary->training->uncompressed_loss == plain.losses.back());
  }
  check_contains(shell.run(0, "frontier out --objective payload_back --objective step_time").output, {"sort8", "zstd"});
  check_contains(shell.run(0, "explain out").output, {"waiting for the codec sort8 to encode",
                                                      "Weights were not compared", "for the codec zstd to encode"});
}

TEST_CASE("a gradient that is no number fails the trial with a lossy codec, and its sentence names the block") {
  const Shell shell;
  const support::FaultOnce once("nogradients@1-2@12");
  const auto outcome = shell.run(1, kTrain + "--split 1 --codec sort8");
  CHECK(contains(outcome.errors, "encode the gradient of the output of block 1 with sort8"));
}

TEST_CASE("a training that is interrupted keeps what was measured and leaves no process") {
  const Shell shell;
  const support::FaultOnce fault("hang@1-2@12");
  CHECK(end_at(fault, SIGINT, shell, kTrain + "--split 1 --schedule gpipe").exit_code == 130);
}

TEST_CASE("three stages train over emulated networks, and the plan shows what each stage does") {
  const Shell shell;
  const auto train =
      sweep_of("synthetic:1ms/4kB,1ms/8kB,1ms") +
      "--task train --batch 4 --micro-batch 1 --steps 2 --warmup 1 --repeat 1 --stages 3 --partitions 1,2 "
      "--schedule 1f1b";
  check_contains(shell.run(0, train + "--dry-run").output,
                 {"1f1b, 4 micro-batches a step:", "stage 0: F0 F1 F2 B0 F3 B1 B2 B3 U", "stage 2: F0 B0 F1 B1"});
  const auto* placed = GENERATE("", " --placement 0,1,0");  // a U: the first device has the last part, and the labels
  shell.run(train + "--network unshaped --network wifi --shaping emulated" + placed);
  const auto records = shell.records();  // on a busy machine the emulated link may come late, which is invalid
  REQUIRE(records.size() == 2);
  for (const auto& record : records) {
    CHECK(record.status != record::Status::failed);
    CHECK(record.links.size() == 4);
  }
}

TEST_CASE("gradients pass every link of an emulated network at the conditions of the way back") {
  const Shell shell;
  shell.write("far.json", R"({"forward": {"delay": "1 ms"}, "backward": {"delay": "60 ms"}})");
  shell.run(sweep_of("synthetic:0ms/4kB,0ms/4kB,0ms") +
            "--task train --batch 1 --steps 3 --warmup 1 --repeat 1 --stages 3 --partitions 1,2 --schedule gpipe "
            "--network far.json --shaping emulated");
  const auto records = shell.records();
  REQUIRE(records.size() == 1);
  REQUIRE(records[0].status != record::Status::failed);
  CHECK(median_step_ms(records[0]) >= 2 * 60);
}

TEST_CASE("replicas are trained beside the cuts, checked, compared with, and explained") {
  const Shell shell;
  const auto train = kTrain + "--split 1 --baseline single --baseline data-parallel --schedule gpipe,pipedream";
  check_contains(shell.run(0, train + "--dry-run").output,
                 {"data-parallel on 2 devices", "each of 2 replicas: F0 F1 B0 B1 R U", "F0 B0 R U F1 B1 R U"});
  shell.run(0, train);
  const auto records = shell.records();
  CHECK(records.size() == 3 * 2);
  for (const auto& record : records) {
    check_trained(record);
    const auto& summary = *record.summary->training;
    const bool replicas = record.trial.data_parallel == 2;
    for (const auto& stage : summary.stages) CHECK((stage.all_reduce_ns > 0) == replicas);
    if (!replicas) continue;
    CHECK(summary.stages.size() == 2);
    CHECK(record.links.empty());
    CHECK(record.training->reduced_bytes > 0);
  }
  check_contains(
      shell.run(0, "frontier out").output,
      {"x single", "x data-parallel", "with the same schedule and micro-batches", "replicas on as many devices"});
  check_contains(shell.run(0, "explain out").output, {"all-reduce", "adds up the gradients of all 2 devices",
                                                      "Replicas on as many devices", "One device that trains alone"});
  export_in(shell, {"trials"});
  CHECK(contains(shell.text("exported/trials.csv"), "data-parallel"));
}

TEST_CASE("a page shows what was trained, replicas among it", "[needs:charts]") {
  const Shell shell;
  shell.run(0,
            kTask + "--steps 2 --micro-batch 2,4 --schedule gpipe,1f1b,pipedream --split 1,2 --baseline data-parallel");
  write_page(shell, "report out --out page.html");
  const auto page = shell.text("page.html");
  for (const auto* shown : {"gpipe/2", "1f1b/4", "pipedream/2", "all local", "data-parallel on 2 devices"}) {
    CAPTURE(shown);
    CHECK(contains(page, shown));
  }
}

TEST_CASE("a replica that is killed or diverges fails its trial in a sentence, and nothing stays") {
  const auto [fault, said] = GENERATE(table<const char*, const char*>(
      {{"kill@0-2@30", "was killed by signal 9"}, {"nan@0-2@30", "the training diverges"}}));
  const Shell shell;
  const support::FaultOnce once(fault);
  // The process that all are compared with computes these blocks fewer times.
  const auto train = kTask + "--micro-batch 2 --steps 20 --split 1 --baseline data-parallel";
  auto sweep = shell.start(train);
  REQUIRE(support::wait_until_written(once.marker()));
  const auto stages = support::watch(support::children_of(sweep.pid()));
  const auto outcome = sweep.wait();
  CHECK(outcome.exit_code == 1);
  CHECK(contains(outcome.errors, said));
  CHECK(support::all_ended(stages));
  shell.run(0, train + "--resume");
  CHECK(count(shell.records(), record::Status::ok) == 2);
}

TEST_CASE("what cannot be trained yet is refused in a sentence") {
  check_refused(Shell(), kTrain,
                {{"--scenario offline", "leave --scenario out"},
                 {"--baseline sequential", "sequential is of inference"},
                 {"--baseline data-parallel --stages 3 --partitions 1,2", "which 4 of 2 cannot be"},
                 {"--baseline data-parallel --link tls", "does not encrypt"},
                 {"--baseline data-parallel --network wifi --shaping emulated", "do not lead through emulated"},
                 {"--compute optimized", "have no backward"},
                 {"--optimizer adam --momentum 0.9", "adam has no momentum"},
                 {"--schedule gpip", "did you mean \"gpipe\"?"}});
  check_refused(Shell(), kInstantSweep, {{"--lr 0.1", "add --task train"}});
}
