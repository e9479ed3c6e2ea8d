// Pipelines of more than two stages, and batches dealt out to as many devices beside them, as from a shell.
#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

/// Six blocks, of which the fifth is the only one that takes time.
const Words kChain =
    sweep_of("synthetic:0ms/4kB,0ms/8kB,0ms/4kB,0ms/4kB,3ms/4kB,0ms") + "--batches 3 --warmup 1 --repeat 1";

std::set<std::vector<int>> partitions(const Shell& shell) {
  std::set<std::vector<int>> found;
  for (const auto& record : shell.records()) found.insert(record.trial.split_points);
  return found;
}

constexpr const char* kSlowNetwork = R"({"forward": {"delay": "3 ms"}, "backward": {"delay": "5 ms"}})";

const Words kThreeBlocks = sweep_of("synthetic:0ms/4kB,1ms/64kB,0ms") + "--warmup 1";

/// One split beside the baselines, each once.
Words beside_baselines(int stages, const std::string& more = "--batches 8 --depth 6") {
  return kThreeBlocks + more +
         fmt::format("--repeat 1 --stages {} --partitions {} --baseline single --baseline data-parallel", stages,
                     stages == 2 ? "1" : "1,2");
}

record::TrialRecord baseline_of(const Shell& shell) {
  for (const auto& record : shell.records()) {
    if (record.trial.data_parallel > 0) return record;
  }
  throw std::out_of_range("the baseline was not measured");
}

/// A seed by which the first repetition measures the split before the baseline.
Words with_the_split_first(const Shell& shell, const Words& sweep) {
  for (int seed = 1; seed < 100; ++seed) {
    const auto words = sweep + ("--seed " + std::to_string(seed));
    const auto plan = shell.run(words + "--repeat 1 --dry-run").output;
    if (plan.find(" split ") < plan.find(" data-parallel ")) return words;
  }
  throw std::runtime_error("no seed has that order");
}

/// Every device computed its share, and every batch's way is there.
void require_dealt(const record::TrialRecord& record, int devices) {
  INFO(record.trial.label());
  REQUIRE(record.status == record::Status::ok);
  CHECK(record.trial.data_parallel == devices);
  CHECK(record.fidelity->max_abs_difference == 0);
  CHECK(record.fidelity->batches_compared == 2 * 9);
  REQUIRE(record.stages.size() == static_cast<std::size_t>(devices));
  REQUIRE(record.summary->stages.size() == record.stages.size());
  for (const auto& device : record.summary->stages) CHECK(device.utilisation > 0);
  CHECK(record.summary->links.size() == 2 * (record.stages.size() - 1));
  CHECK(record.offline->devices == devices);
  CHECK(record.offline->results.completed.size() == 9);
  for (std::size_t batch = 0; batch < 9; ++batch) {
    const bool crosses = batch % static_cast<std::size_t>(devices) != 0;
    const auto& device = record.offline->stages.at(1);
    CHECK((device.receive_end[batch] > record.offline->stages.at(0).ready[batch]) == crosses);
    CHECK(record.offline->results.completed[batch] >= device.compute_end[batch]);
  }
}

}  // namespace

TEST_CASE("every partition into three stages is measured, and the frontier is drawn of them all") {
  const Shell shell;
  shell.run(0, kChain + "--stages 3");
  const auto records = shell.records();
  CHECK(records.size() == 10 + 2);
  for (const auto& record : records) {
    INFO(record.trial.label());
    CHECK(record.status == record::Status::ok);
    CHECK(record.fidelity->max_abs_difference == 0);
    CHECK(record.trial.cpus.size() == 3);
    CHECK(record.stages.size() == (record.trial.all_local() ? 1U : 3U));
    CHECK(record.links.size() == (record.trial.all_local() ? 0U : 3U));
  }
  for (const auto& cut : {std::vector{0, 0}, {2, 5}, {6, 6}}) CHECK(partitions(shell).contains(cut));
  check_contains(shell.run(0, "frontier out").output, {"2,5", "6,6 local"});
  export_in(shell, {"trials", "batches", "jsonl"});
  CHECK(contains(shell.run("export out --layout python --out exported").errors, "more than two stages"));
}

TEST_CASE("schemes and listed partitions are measured, and resume knows them") {
  const Shell shell;
  const auto words = kChain + "--stages 4 --partitions front-heavy --partitions equal-load --partitions 1,2,5";
  shell.run(0, words);
  CHECK(partitions(shell) == std::set<std::vector<int>>{{1, 2, 5}, {2, 4, 5}, {3, 4, 5}});
  shell.run(0, words + "--resume --partitions 0,0,6");
  CHECK(shell.records().size() == 4);
}

TEST_CASE("equal-time gives the block that takes longest a stage of its own") {
  const Shell shell;
  shell.run(0, sweep_of("synthetic:15ms/4kB,15ms/4kB,15ms/4kB,15ms/4kB,60ms/4kB,15ms") +
                   "--batches 2 --warmup 0 --repeat 1 --stages 3 --partitions equal-time");
  CHECK(partitions(shell) == std::set<std::vector<int>>{{4, 5}});
}

TEST_CASE("equal-time gives the slower device less, whichever it is") {
  const auto cut_with_slower = [](int stage) {
    const Shell shell;
    nlohmann::json devices;
    for (int i = 0; i < 2; ++i) {
      devices[fmt::format("d{}", i)] = {{"launch", {"env", i == stage ? "FAKE_STAGE_FAULT=slower" : "USUAL=1"}},
                                        {"address", "127.0.0.1"},
                                        {"program", kStage}};
    }
    shell.write("devices.json", devices.dump());
    shell.run(0,
              sweep_of("synthetic:120ms/4kB,12ms/4kB,120ms") +
                  "--batches 2 --warmup 0 --repeat 1 --partitions equal-time --on d0 --on d1 --devices devices.json");
    return partitions(shell);
  };
  CHECK(cut_with_slower(0) == std::set<std::vector<int>>{{1}});
  CHECK(cut_with_slower(1) == std::set<std::vector<int>>{{2}});
}

TEST_CASE(
    "equal-time knows a model that has fewer blocks than stages, and one of more blocks than can be timed in runs") {
  const Shell shell;
  check_refused(shell, sweep_of("synthetic:0ms/4kB,0ms") + "--stages 3",
                {{"--partitions equal-time", "cannot be cut into 3 stages"}});
  std::string many = "synthetic:";
  for (int block = 0; block < 64; ++block) many += block == 40 ? "100ms/4kB," : "1ms/4kB,";
  shell.run(0, sweep_of(many + "1ms") + "--batches 2 --warmup 0 --repeat 1 --stages 3 --partitions equal-time");
  REQUIRE(shell.records().size() == 1);
  const auto cuts = shell.records().front().trial.split_points;
  const int begin = cuts[0] > 40 ? 0 : cuts[1] > 40 ? cuts[0] : cuts[1];
  const int end = cuts[0] > 40 ? cuts[0] : cuts[1] > 40 ? cuts[1] : 65;
  CHECK(end - begin <= 10);  // the stage of the block that takes longest has few others
}

TEST_CASE("four stages over an emulated network have a link each, with its delay") {
  const Shell shell;
  shell.write("slow.json", kSlowNetwork);
  const auto sweep = shell.run(kChain + "--stages 4 --partitions 1,2,3 --network ./slow.json --shaping emulated");
  INFO(sweep.errors);
  REQUIRE(shell.records().size() == 1);
  const auto record = shell.records().front();
  REQUIRE(record.summary.has_value());
  CHECK(record.summary->latency->min_ns >= 3 * 3e6 + 5e6);  // no batch can be faster than its links
  REQUIRE(record.summary->links.size() == 4);
  for (std::size_t link = 0; link < 3; ++link) CHECK(record.summary->links[link].transfer_p50_ns >= 3e6);
  CHECK(record.summary->links[3].transfer_p50_ns >= 5e6);
}

TEST_CASE("three stages in namespaces of their own talk over links that the kernel shapes, where it can",
          "[needs:namespaces]") {
  const Shell shell;
  shell.write("slow.json", R"({"forward": {"rate": "100 Mbit/s"}, "backward": {"rate": "50 Mbit/s"}})");
  const auto sweep = shell.run(kChain + "--stages 3 --partitions 2,4 --network ./slow.json --shaping netem");
  INFO(sweep.errors);
  if (sweep.exit_code == 3) support::skip(sweep.errors);
  REQUIRE(shell.records().size() == 1);
  const auto record = shell.records().front();
  REQUIRE(record.network.has_value());
  CHECK(record.network->read_back.forward.rate_bit_per_s == 100'000'000);
  CHECK(record.network->read_back.backward.rate_bit_per_s == 50'000'000);
  CHECK(record.fidelity->max_abs_difference == 0);
  CHECK(record.links.size() == 3);
}

TEST_CASE("stages that share a CPU, and devices that would be idle, are warned of") {
  const Shell shell;
  const auto shared = shell.run(kChain + "--stages 3 --partitions equal-load --dry-run --cpus 0 --cpus 0 --cpus 0");
  CHECK(contains(shared.errors, "CPU 0 computes for more than one stage"));
  const auto idle = shell.run(0, beside_baselines(3, "--batches 8 --depth 2 --dry-run"));
  CHECK(contains(idle.output, "data-parallel on 3 devices"));
  CHECK(contains(idle.errors, "with 2 batches in flight no more than 2 of the baseline data-parallel's 3 devices"));
}

TEST_CASE("what cannot be cut or dealt out so is refused, with what can") {
  check_refused(Shell(), kChain,
                {{"--stages 1", "from 2 to 16"},
                 {"--stages 7", "has 6 blocks, which cannot be cut into 7 stages"},
                 {"--stages 3 --split 2", "give partitions instead"},
                 {"--stages 3 --partitions 2", "3 stages need 2"},
                 {"--stages 3 --partitions front-hevy", "did you mean \"front-heavy\"?"},
                 {"--stages 3 --partitions 2,9", "split point 9 is outside"},
                 {"--max-partitions 3", "all partitions"},
                 {"--stages 3 --cpus 0 --cpus 0", "each of the 3 stages"}});
  check_refused(Shell(), "",
                {{beside_baselines(3, "--batches 5 --depth 6"), "each needs two; measure 6 batches"},
                 {beside_baselines(3) + "--rate 10", "has no Server phase"}});
}

TEST_CASE("the whole model is measured on every device beside the splits, in one run and one table") {
  const int stages = GENERATE(2, 3);
  const Shell shell;
  shell.run(0, beside_baselines(stages));
  CHECK(shell.records().size() == 3);
  require_dealt(baseline_of(shell), stages);
  const auto frontier = shell.run(0, "frontier out --format markdown");
  check_contains(frontier.output, {"x data-parallel", "of 2 splits"});
  const auto explained = shell.run(0, "explain out --split data-parallel");
  CHECK(contains(explained.output, "Its bottleneck is not diagnosed"));
  shell.run(0, "report out --out report.html");
  export_in(shell, {"trials", "stages", "batches", "jsonl"});
  const auto trace = shell.run("export out --layout trace --split data-parallel --out exported");
  CHECK(contains(trace.errors, "data-parallel on"));
  shell.run(0, beside_baselines(stages) + "--resume");
  CHECK(shell.records().size() == 3);
}

TEST_CASE("over an emulated network every device but the first has the links' delay both ways") {
  const int stages = GENERATE(2, 3);
  const Shell shell;
  shell.write("slow.json", kSlowNetwork);
  const auto sweep = shell.run(beside_baselines(stages) + "--network ./slow.json --shaping emulated");
  INFO(sweep.errors);
  const auto record = baseline_of(shell);
  REQUIRE(record.single_stream.has_value());  // timing may spoil a trial on a busy machine, which then says so
  REQUIRE(record.summary->links.size() == 2 * static_cast<std::size_t>(stages - 1));
  for (const auto& link : record.summary->links) CHECK(link.transfer_p50_ns >= (link.to == 0 ? 5e6 : 3e6));
  const auto& phase = *record.single_stream;
  for (std::size_t batch = 0; batch < 9; ++batch) {
    const auto latency = phase.results.completed[batch] - phase.stages[0].ready[batch];
    if (batch % static_cast<std::size_t>(stages) != 0) CHECK(latency >= 8'000'000);
  }
}

TEST_CASE("batches that are cut into micro-batches are dealt out whole") {
  const Shell shell;
  shell.run(0, beside_baselines(2) + "--batch 4 --micro-batch 2");
  const auto record = baseline_of(shell);
  CHECK(record.fidelity->max_abs_difference == 0);
  CHECK(record.offline->micro_batches == 2);
  CHECK(record.offline->results.completed.size() == 18);
  CHECK(record.summary->latency->count >= 4);
}

TEST_CASE("three devices that only wait compute at the same time") {
  const Shell shell;
  shell.run(0, sweep_of("synthetic:30ms") +
                   "--batches 12 --warmup 1 --repeat 1 --depth 6 --stages 3 --partitions 1,1 "
                   "--baseline data-parallel");
  const auto record = baseline_of(shell);
  const auto& device = record.offline->stages.at(1);
  int together = 0;
  for (std::size_t i = 0; i < device.compute_begin.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      together += device.compute_begin[i] < device.compute_end[j] && device.compute_begin[j] < device.compute_end[i];
    }
  }
  CHECK(together > 0);
}

TEST_CASE("a device that dies is named, its trial fails, and the sweep goes on") {
  const auto [cut, device] = GENERATE(table<std::string, int>({{"3,3", 0}, {"0,0", 2}}));
  CAPTURE(device);
  const Shell shell;
  const auto words = with_the_split_first(
      shell, kThreeBlocks + ("--batches 8 --depth 6 --stages 3 --baseline data-parallel --partitions " + cut));
  const support::FaultOnce fault("kill@0-3@20");  // it has computed all eighteen batches of the split before
  shell.run(1, words + "--repeat 2");
  const auto records = shell.records();
  REQUIRE(records.size() == 4);
  CHECK(count(records, record::Status::ok) == 3);
  const auto failed = baseline_of(shell);  // of the first repetition
  CHECK(failed.status == record::Status::failed);
  REQUIRE(failed.failure.has_value());
  CHECK(failed.failure->stage == device);
  CHECK(contains(failed.failure->reason, "was killed by signal 9"));
}

TEST_CASE("stages that cannot compute denormals as zero are named once a sweep if that was asked for, and by doctor") {
  const Shell shell;
  const support::ScopedVariable fault("FAKE_STAGE_FAULT", "denormals");
  const std::string sentence = "paretopipe: stages 0, 1 cannot compute denormal numbers as zero";
  const auto swept = shell.run(0, kOneRepetition + "--threads-per-stage 1,2");
  CHECK(occurrences(swept.errors, sentence) == 1);
  CHECK(shell.records().front().stages.front().compute.at("flush_denormals") == false);
  CHECK_FALSE(contains(Shell().run(0, kOneRepetition + "--no-flush-denormals").errors, "denormal"));
  CHECK(contains(shell.run("doctor").output, "without the code to compute them as zero"));
}

TEST_CASE("doctor warns where oneDNN has only reference kernels, and names them") {
  const Shell shell;
  const support::ScopedVariable fault("FAKE_STAGE_FAULT", "reference kernels");
  check_contains(shell.run("doctor").output,
                 {"warning  convolutions", "gemm:ref, ref:any", "only its reference kernels", "--compute eager"});
}
