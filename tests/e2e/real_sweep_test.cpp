#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/core/hash.hpp>

#include <fstream>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <integration/driver_fixture.hpp>
#include <nlohmann/json.hpp>

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

const auto kReal = Shell::Stages::real;

/// ResNet-18 has 10 blocks: all remote, a cut with a large activation, one with a small activation, all local.
const std::set<int> kSplits{0, 1, 9, 10};

/// A file of weights that are all zero: the header says the names and shapes of the reference file, and the rest is a
/// hole. The running variances of batch norms are zero too, which epsilon makes harmless.
void write_hollow_weights(const std::filesystem::path& path, const std::string& model) {
  const auto reference = nlohmann::json::parse(
      support::read_file(fmt::format(PARETOPIPE_SOURCE_DIR "/tests/golden/torchvision/{}.json", model)));
  auto header = nlohmann::json::object();
  std::int64_t end = 0;
  for (const auto& item : reference.at("tensors").items()) {
    if (item.key().ends_with("num_batches_tracked")) continue;  // may be missing
    std::int64_t bytes = 4;
    for (const auto& dimension : item.value()) bytes *= dimension.get<std::int64_t>();
    header[item.key()] = {{"dtype", "F32"}, {"shape", item.value()}, {"data_offsets", {end, end + bytes}}};
    end += bytes;
  }
  auto text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const auto length = std::uint64_t{text.size()};
  support::write_file(path, std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + text);
  std::filesystem::resize_file(path, sizeof(length) + length + static_cast<std::uint64_t>(end));
}

}  // namespace

TEST_CASE("a sweep of ResNet-18 on real images measures every split, and no output differs from the unsplit model's") {
  const bool exact = GENERATE(true, false);
  const Shell shell(kReal);
  shell.run(0, fmt::format("sweep --model resnet18 --split 0,1,9,10 --batch 2 --batches 3 "
                           "--warmup 1 --repeat 2 --repeat-slow 0 --depth 2 --out out{}",
                           exact ? " --compute eager" : ""));
  const auto set = record::read_records(shell.folder() / "out");
  CHECK(set.warnings.empty());
  REQUIRE(set.records.size() == 2 * kSplits.size());

  std::set<int> seen;
  for (const auto& record : set.records) {
    const int split = record.trial.split_points.front();
    INFO(record.trial.label());
    seen.insert(split);
    CHECK(record.trial.data == "fashion-mnist");
    CHECK(record.trial.compute.compute == (exact ? experiment::Compute::eager : experiment::Compute::optimized));
    CHECK((record.fidelity->tolerance == 0) == exact);
    CHECK(record.fidelity->max_abs_difference <= record.fidelity->tolerance);
    CHECK(record.fidelity->top1_agreement == 1);
    CHECK(record.fidelity->unsplit_against_eager.has_value() != exact);
    if (const auto unsplit = record.fidelity->unsplit_against_eager) {
      CHECK(unsplit->kept());
      CHECK(unsplit->max_abs_difference > 0);
      CHECK(unsplit->images == 8);
    }
    CHECK(record.fidelity->batches_compared == 8);
    CHECK(record.summary->latency->count == 3);
    CHECK(record.summary->throughput_image_per_s.value() > 0);
    CHECK(record.stages.size() == (split == 10 ? 1U : 2U));
    CHECK(record.links.size() == (split == 10 ? 0U : 2U));
    for (const auto& stage : record.stages) {
      CHECK(stage.compute.at("threads") == 1);
      CHECK(stage.compute.at("flush_denormals") == true);
      CHECK(stage.peak_rss_bytes.value_or(0) > stage.parameter_bytes);
      CHECK(stage.prepared.has_value() == !exact);
    }
  }
  CHECK(seen == kSplits);
}

TEST_CASE(
    "a sweep in the default mode prepares every range of every stage once, however often it comes; the parts of every "
    "batch's latency add up to it exactly, and payloads are the activations'") {
  const Shell shell(kReal);
  shell.run(
      0,
      "sweep --model mobilenet_v2 --split 0,5,7,19,20 --batch 1,2 --data random --batches 2 --warmup 0 --repeat 3 "
      "--repeat-slow 0 --out out");
  const auto records = shell.records();
  REQUIRE(records.size() == 5 * 2 * 3);
  std::map<std::tuple<std::size_t, int, int, int>, int> made;  // by stage, batch, first and last block
  for (const auto& record : records) {
    INFO(record.trial.label());
    for (std::size_t i = 0; i < record.stages.size(); ++i) {
      const auto& [begin, end] = record.stages[i].blocks;
      const auto& prepared = record.stages[i].prepared.value();
      CHECK(prepared.limit_bytes > 0);
      CHECK(prepared.graphs_bytes <= prepared.limit_bytes);
      if (begin == end) CHECK(prepared.graph_bytes == 0);
      if (begin == 0 && end > 0)
        CHECK(prepared.graph_bytes > 0);  // folded weights; others may share all with the blocks
      if (begin < end) made[{i, record.trial.batch, begin, end}] += prepared.made ? 1 : 0;
    }

    const auto& samples = *record.single_stream;
    std::vector<std::int64_t> sums(samples.results.completed.size(), 0);
    for (const auto& series : stats::breakdown(samples).parts) {
      for (std::size_t batch = 0; batch < sums.size(); ++batch) sums[batch] += series.ns[batch];
    }
    for (std::size_t batch = 0; batch < sums.size(); ++batch) {
      CHECK(sums[batch] == samples.results.completed[batch] - samples.stages.front().ready[batch]);
    }
    if (record.trial.all_local()) continue;
    const int split = record.trial.split_points.front();
    const auto floats = std::int64_t{4} * record.trial.batch;
    if (split == 0) CHECK(record.links.front().payload_bytes == floats * 3 * 224 * 224);
    if (split == 7) CHECK(record.links.front().payload_bytes == floats * 32 * 28 * 28);
    CHECK(record.links.back().payload_bytes == floats * 10);
    CHECK(record.links.front().header_bytes == 64);
  }
  CHECK(made.size() == 2 * 8);
  for (const auto& [range, times] : made) {
    const auto& [stage, batch, begin, end] = range;
    INFO("stage " << stage << ", batch " << batch << ", blocks " << begin << " to " << end);
    CHECK(times <= 1);
    // The unsplit model, whose outputs were computed before the trials, may be there already.
    if (begin > 0 || end < 20) CHECK(times == 1);
  }
}

TEST_CASE(
    "in micro-batches, too, in eager mode every split's output is the unsplit model's bit for bit, through two stages "
    "and "
    "three") {
  const Shell shell(kReal);
  for (const auto* stages : {"--split 0,4,10", "--stages 3 --partitions 3,7"}) {
    shell.run(0, fmt::format("sweep --model resnet18 {} --compute eager --batch 4 --micro-batch 1,2,4 --batches 3 "
                             "--warmup 1 --repeat 1 --repeat-slow 0 --depth 2 --resume --out out",
                             stages));
  }
  const auto records = shell.records();
  CHECK(records.size() == 3 * 3 + 3);
  for (const auto& record : records) {
    INFO(record.trial.label());
    CHECK(record.fidelity->max_abs_difference == 0);
    CHECK(record.fidelity->batches_compared == 8);
    CHECK(record.summary->latency->count == 3);
    CHECK(record.offline->micro_batches == record.trial.micro_batches());
  }
}

TEST_CASE(
    "texts that are shorter than RoBERTa's sequence are masked at every kind of cut, in micro-batches and dealt out") {
  const Shell shell(kReal);
  shell.write("texts.txt", "0 31414 232 2\n0 5 6 7 8 9 10 2\n0 2\n0 11 12 13 14 2\n");
  shell.write("classes.txt", "0\n1\n2\n3\n");
  for (const auto* cuts :
       {"--split 0,7,13 --micro-batch 1,2 --baseline data-parallel", "--stages 3 --partitions 4,9"}) {
    for (const auto* compute : {"eager", "optimized"}) {
      shell.run(0,
                fmt::format(
                    "sweep --model roberta_base {} --compute {} --data tokens:texts.txt --labels classes.txt "
                    "--scenario offline --batch 2 --batches 4 --warmup 0 --repeat 1 --repeat-slow 0 --resume --out out",
                    cuts, compute));
    }
  }
  constexpr std::int64_t kFeatures = 2 * 128 * 768 * 4, kMask = 2 * 128 * 4;
  const auto records = shell.records();
  CHECK(records.size() == 2 * (2 * 4 + 1));
  for (const auto& record : records) {
    INFO(record.trial.label());
    CHECK(record.fidelity->max_abs_difference <= record.fidelity->tolerance);
    CHECK((record.fidelity->tolerance == 0) == (record.trial.compute.compute == experiment::Compute::eager));
    CHECK(record.fidelity->accuracy.value().images == 4);
    for (const auto& link : record.links) {
      if (record.trial.data_parallel > 0 || link.to == 0) continue;
      const int split = record.trial.split_points.at(static_cast<std::size_t>(link.from));
      const bool masked = split >= 1 && split <= 12;
      CHECK(link.payload_bytes == (split == 0 ? 2 * 128 * 8 : masked ? kFeatures + kMask : kFeatures));
      CHECK(link.header_bytes == 64 * record.trial.micro_batches() * (masked ? 2 : 1));
    }
  }
}

TEST_CASE("codecs keep RoBERTa's mask, which crosses beside the activation") {
  const Shell shell(kReal);
  shell.write("texts.txt", "0 31414 232 2\n0 5 6 7 8 9 10 2\n");
  shell.run(
      0,
      "sweep --model roberta_base --split 4 --compute eager --data tokens:texts.txt --codec none,zstd,float16,sort8 "
      "--scenario offline --batch 2 --batches 2 --warmup 0 --repeat 1 --repeat-slow 0 --out out");
  const auto records = shell.records();
  CHECK(records.size() == 4);
  for (const auto& record : records) {
    INFO(record.trial.label());
    CHECK(record.status == record::Status::ok);
    CHECK(record.links.at(0).header_bytes == 2 * 64);
    CHECK(record.fidelity->max_abs_difference < 0.1);
    const bool lossless = record.trial.codec == "none" || record.trial.codec == "zstd";
    if (lossless) CHECK(record.fidelity->max_abs_difference == 0);
  }
}

TEST_CASE(
    "all remote may send an image's pixels, from which the model's input comes back, or its JPEG, which loses a "
    "little") {
  const Shell shell(kReal);
  shell.run(0,
            fmt::format(
                "sweep --model resnet18 --compute eager --data images:{}/tests/golden/images --split 0,1 --codec-input "
                "none,uint8,jpeg,jpeg:30 --batch 2 --batches 3 --warmup 1 --repeat 1 --repeat-slow 0 --out out",
                PARETOPIPE_SOURCE_DIR));
  std::map<std::pair<int, std::string>, std::int64_t> payloads;
  for (const auto& record : shell.records()) {
    INFO(record.trial.label());
    const bool loses = record.trial.codec.starts_with("jpeg");
    CHECK((record.fidelity->max_abs_difference > 0) == loses);  // a folder's images have whole pixels
    payloads[{record.trial.split_points.front(), record.trial.codec}] = record.links.front().payload_bytes;
  }
  REQUIRE(payloads.size() == 5);
  CHECK(payloads.contains({1, "none"}));
  CHECK(payloads.at({0, "none"}) == 4 * payloads.at({0, "uint8"}));
  CHECK(payloads.at({0, "uint8"}) == 2 * 3 * 224 * 224);
  CHECK(payloads.at({0, "jpeg"}) < payloads.at({0, "uint8"}) / 2);
  CHECK(payloads.at({0, "jpeg:30"}) < payloads.at({0, "jpeg"}));
  // Those of a data set are enlarged, and so have none.
  const auto rounded = nlohmann::json::parse(
      shell.run(0, "codecs resnet18 --split 0 --compute eager --codec-input uint8 --batches 2 --warmup 1 --format json")
          .output);
  REQUIRE(rounded.size() == 2);
  CHECK(rounded[1].at("max_abs_difference") > 0);
  CHECK(rounded[1].at("mean_abs_difference") < rounded[1].at("max_abs_difference"));
}

TEST_CASE("a sweep with weights out of a file checks them first, and has their SHA-256 in every record") {
  const Shell shell(kReal);
  const auto file = shell.folder() / "w.safetensors";
  write_hollow_weights(file, "mobilenet_v2");
  check_refused(shell, "sweep --model alexnet --weights w.safetensors --data random --out out",
                {{"", "does not fit alexnet: 14 tensors are missing"}});

  const std::string sweep =
      "sweep --model mobilenet_v2 --compute eager --weights w.safetensors --data random --split 7 --batches 2 "
      "--warmup 0 --repeat 1 --repeat-slow 0 --out ";
  shell.run(0, sweep + "out");
  const auto records = shell.records();
  REQUIRE(records.size() == 1);
  CHECK(records.front().trial.weights_sha256 == sha256_of_file(file));
  CHECK(records.front().fidelity->max_abs_difference == 0);

  // One byte of a tensor changes the identity: nothing is resumed.
  std::fstream(file, std::ios::binary | std::ios::in | std::ios::out).seekp(-1, std::ios::end).put('\x3f');
  shell.run(0, sweep + "out --resume");
  CHECK(shell.records().size() == 2);
}

TEST_CASE("VGG-16's stages run in the memory of their own shares, and nobody holds the whole model") {
  const int split = GENERATE(20, 33);  // before and behind the largest block
  const Shell shell(kReal);
  write_hollow_weights(shell.folder() / "w.safetensors", "vgg16");
  shell.run(0, fmt::format("sweep --model vgg16 --compute eager --weights w.safetensors --data random "
                           "--split {} --batches 2 --warmup 0 --repeat 1 --repeat-slow 0 --out out",
                           split));
  const auto records = shell.records();
  REQUIRE(records.size() == 1);
  const auto& stages = records.front().stages;
  REQUIRE(stages.size() == 2);
  for (const auto& stage : stages) {
    CHECK(stage.held_parameter_bytes == stage.parameter_bytes);
    REQUIRE(stage.memory.has_value());
    CHECK(stage.memory->weights_bytes == stage.parameter_bytes);
    CHECK(stage.memory->prepared_bytes == 0);
    CHECK(stage.memory->total() < stage.peak_rss_bytes.value());
  }
  // Both are the same program, so that what they need beside weights and activations is the same.
  const auto& large = stages[split == 33 ? 0 : 1];
  const auto& small = stages[split == 33 ? 1 : 0];
  const auto less = large.held_parameter_bytes - small.held_parameter_bytes;
  CHECK(less > 350'000'000);
  CHECK(large.peak_rss_bytes.value() - small.peak_rss_bytes.value() > less * 8 / 10);
}

TEST_CASE("what a split needs in memory is the same alone and among all splits, whatever the mode") {
  const auto* mode = GENERATE("eager", "optimized");
  CAPTURE(mode);
  const Shell shell(kReal);
  const auto needs_of = [&](const std::string& splits) {
    shell.run(0, fmt::format("sweep --model resnet18 --compute {} --data random --split {} --batches 3 "
                             "--warmup 0 --repeat 1 --repeat-slow 0 --out split{}",
                             mode, splits, splits));
    std::map<int, std::vector<host::StageMemory>> needs;
    for (const auto& record : shell.records("split" + splits)) {
      for (const auto& stage : record.stages) {
        needs[record.trial.split_points.front()].push_back(stage.memory.value());
      }
    }
    return needs;
  };
  const auto all = needs_of("all");
  REQUIRE(all.size() == 11);
  for (const int split : {1, 9}) {
    CAPTURE(split);
    CHECK(needs_of(std::to_string(split)).at(split) == all.at(split));
  }
  // Batch norms go into the convolutions' weights, which the graph then has of its own.
  const auto whole = all.at(10).at(0);
  CHECK((whole.prepared_bytes > whole.weights_bytes * 9 / 10) == (mode == std::string("optimized")));
  // What the first convolution makes of an image: 64 channels of 112 x 112.
  CHECK(whole.tensors_bytes > 4 * 64 * 112 * 112);
  CHECK(whole.tensors_bytes < 10 * 4 * 64 * 112 * 112);
  const auto within = [&](double bytes) {
    const auto frontier = nlohmann::json::parse(
        shell.run(0, fmt::format("frontier splitall --where 'peak_memory < {:.0f}B' --format json", bytes)).output);
    const auto& splits = frontier.at("groups")[0].at("splits");
    return std::ranges::count_if(splits, [](const auto& split) { return !split.contains("excluded_by"); });
  };
  double least = 1e12, most = 0;
  for (const auto& [split, stages] : all) {
    double needs = 0;
    for (const auto& stage : stages) needs = std::max(needs, static_cast<double>(stage.total()));
    least = std::min(least, needs);
    most = std::max(most, needs);
  }
  CHECK(within(least + 1) >= 1);
  CHECK(within(most) < 11);
  CHECK(within(most + 1) == 11);
}

TEST_CASE(
    "what is missing, unknown or not there is refused in a sentence that says what to do, and nothing is measured") {
  check_refused(Shell(kReal), "",
                {{"sweep --model alexnet --split 16 --batches 2 --repeat 1 --data fashion-mnist:/nonexistent --out out",
                  "/nonexistent", 3},
                 {"sweep --model alexnet --split 16 --batches 2 --repeat 1 --data fashion-mnist:/nonexistent --out out",
                  "dataset-fashion-mnist", 3},
                 {"models resnet19", "resnet18"},
                 {"sweep --model alexnet --device cpu --device cuda:127 --out out", "cannot compute on cuda:127: ", 3},
                 {"sweep --model alexnet --device cpu --device cuda:127 --out out", "Use --device cpu", 3}});
}

TEST_CASE("a stage uses the threads and CPUs that it was given") {
  const Shell shell(kReal);
  shell.run(0,
            "sweep --model alexnet --split 17 --batches 2 --repeat 1 --threads-per-stage 2 --cpus 0-1 --cpus 1 "
            "--no-flush-denormals --out out");
  const auto record = shell.records().front();
  CHECK(record.stages.front().cpus == "0-1");
  CHECK(record.stages.front().compute.at("threads") == 2);
  CHECK(record.stages.front().compute.at("flush_denormals") == false);
}
