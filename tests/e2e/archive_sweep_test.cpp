// A person's own model, from the file to the frontier.
#include <fmt/format.h>
#include <integration/driver_fixture.hpp>
#include <nlohmann/json.hpp>
#include <unit/archive/archives.hpp>

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

/// With an archive called net.pt in `folder`.
struct ArchiveShell : Shell {
  explicit ArchiveShell(const std::string& folder = ".") : Shell(Stages::real) {
    std::filesystem::create_directories(this->folder() / folder);
    archive::write_archive(this->folder() / folder, archive::kClassifier);
  }
};

Words sweep_of_archive(const std::string& model, const std::string& more = "", const std::string& data = "random") {
  return "sweep --input 4x4x4 --batch 2 --repeat 1 --repeat-slow 0 --batches 3 --warmup 1 --out out --model '" + model +
         "' --data " + data + ' ' + more;
}

}  // namespace

TEST_CASE("a sweep of an archive in eager mode measures every cut, and no output differs from the unsplit model's") {
  const ArchiveShell shell("my models");
  shell.run(0, sweep_of_archive("my models/net.pt", "--compute eager --cuts all"));
  std::set<int> splits;
  for (const auto& record : shell.records()) {
    INFO(record.trial.label());
    splits.insert(record.trial.split_points.front());
    CHECK(record.trial.model == "net.pt");
    REQUIRE(record.trial.archive);
    CHECK(record.trial.archive->sha256.size() == 64);
    CHECK(record.trial.archive->input_shape == std::vector<std::int64_t>{4, 4, 4});
    CHECK(record.trial.archive->cuts == "all");
    CHECK(record.fidelity->max_abs_difference == 0);
    CHECK(record.fidelity->top1_agreement == 1);
    CHECK(record.links.size() == (record.trial.all_local() ? 0U : 2U));
  }
  CHECK(splits == std::set<int>{0, 1, 2, 3, 4, 5, 6, 7});

  CHECK(contains(shell.run(0, "frontier out").output, "net.pt (cuts all, SHA-256 "));
}

TEST_CASE("an archive is cut into more than two stages too, also by the times of its blocks") {
  const ArchiveShell shell;
  shell.run(
      0, sweep_of_archive("net.pt", "--compute eager --cuts all --stages 3 --partitions 2,5 --partitions equal-time"));
  bool listed = false;
  for (const auto& record : shell.records()) {
    INFO(record.trial.label());
    CHECK(record.trial.stage_count() == 3);
    CHECK(record.fidelity->max_abs_difference == 0);
    if (record.trial.split_points == std::vector<int>{2, 5}) listed = true;
  }
  CHECK(listed);
}

TEST_CASE("where two tensors may cross, a residual block is cut inside too, in whole batches and in micro-batches") {
  const ArchiveShell shell;
  shell.run(0, sweep_of_archive("net.pt", "--compute eager --cuts all --max-crossing 2 --micro-batch 1,2"));
  std::set<int> splits;
  std::set<int> crossed_by_two;
  for (const auto& record : shell.records()) {
    INFO(record.trial.label());
    const int split = record.trial.split_points.front();
    splits.insert(split);
    REQUIRE(record.trial.archive);
    CHECK(record.trial.archive->max_crossing == 2);
    CHECK(record.fidelity->max_abs_difference == 0);
    if (record.trial.all_local()) continue;
    REQUIRE(record.links.size() == 2);
    const auto headers = record.links.front().header_bytes / record.trial.micro_batches();
    CHECK(record.links.back().header_bytes == 64 * record.trial.micro_batches());
    if (headers == 2 * 64) crossed_by_two.insert(split);
    if (split > 0 && split < 11) CHECK(record.links.front().payload_bytes == headers / 64 * 2 * 64 * 4);
  }
  CHECK(splits.size() == 13);
  CHECK(crossed_by_two == std::set<int>{4, 5, 6, 7, 8});

  CHECK(contains(shell.run("frontier out").output, "net.pt (cuts all of up to 2 tensors, SHA-256 "));
  check_contains(shell.run("models ./net.pt --input 4x4x4 --cuts all --max-crossing 2").output,
                 {"act + block.bn1", "1x4x4x4 + 1x4x4x4"});
}

TEST_CASE("unless told otherwise, a sweep of an archive computes optimized, within the tolerance, in any partition") {
  const ArchiveShell shell;
  shell.run(0,
            "sweep --model ./net.pt --input 4x4x4 --cuts all --data random --stages 3 --partitions 2,5 "
            "--partitions equal-time --baseline single --baseline data-parallel --batch 2 --micro-batch 1,2 --depth 3 "
            "--batches 6 --warmup 1 --repeat 1 --repeat-slow 0 --out out");
  std::set<int> kinds;  // of the baselines and the partitions
  for (const auto& record : shell.records()) {
    INFO(record.trial.label());
    CHECK(record.status == record::Status::ok);
    CHECK(record.trial.compute == experiment::ComputeMode{.compute = experiment::Compute::optimized});
    CHECK(record.fidelity->tolerance > 0);
    CHECK(record.fidelity->max_abs_difference <= record.fidelity->tolerance);
    kinds.insert(record.trial.data_parallel > 0 ? 2 : record.trial.all_local() ? 1 : 0);
  }
  CHECK(kinds == std::set<int>{0, 1, 2});
}

TEST_CASE("no stage takes the memory of an archive's other blocks") {
  constexpr int kLayers = 8;
  constexpr std::int64_t kFeatures = 2048;
  const Shell shell(Shell::Stages::real);
  archive::write_deep_archive(shell.folder(), kLayers, kFeatures);
  shell.run(0, fmt::format("sweep --model ./deep.pt --input {} --compute eager --data random --split {} --batches 2 "
                           "--warmup 0 --repeat 1 --repeat-slow 0 --out out",
                           kFeatures, kLayers - 1));
  const auto records = shell.records();
  REQUIRE(records.size() == 1);
  const auto& stages = records.front().stages;
  REQUIRE(stages.size() == 2);
  CHECK(stages[1].held_parameter_bytes == kFeatures * kFeatures * 4);
  CHECK(stages[0].held_parameter_bytes == (kLayers - 1) * stages[1].held_parameter_bytes);
  for (const auto& stage : stages) CHECK(stage.memory.value().weights_bytes == stage.held_parameter_bytes);
  // Both are the same program, so that what they need beside weights and activations is the same.
  const auto less = stages[0].held_parameter_bytes - stages[1].held_parameter_bytes;
  CHECK(stages[0].peak_rss_bytes.value() - stages[1].peak_rss_bytes.value() > less * 8 / 10);
}

TEST_CASE("two tensors cross in every way to compute, and between more than two stages") {
  for (const std::string mode : {"--compute eager --dtype bfloat16", "--compute optimized", "--dtype bfloat16",
                                 "--memory-format channels_last"}) {
    const ArchiveShell shell;
    shell.run(0, sweep_of_archive("net.pt", mode + " --cuts all --max-crossing 2 --stages 3 --partitions 4,6 "
                                                   "--partitions 3,8"));
    std::ptrdiff_t crossed_by_two = 0;
    for (const auto& record : shell.records()) {
      CHECK(record.status == record::Status::ok);
      for (const auto& link : record.links) crossed_by_two += link.header_bytes == 2 * 64;
    }
    CHECK(crossed_by_two == 3);
  }
}

TEST_CASE("codecs encode both tensors that cross, of bfloat16, too, to the byte") {
  const ArchiveShell shell;
  shell.run(0, sweep_of_archive("net.pt",
                                "--compute eager --dtype bfloat16 --cuts all --max-crossing 2 --stages 3 "
                                "--partitions 4,6 --codec none,zstd,sort8,float16"));
  const auto records = shell.records();
  CHECK(records.size() == 4);
  for (const auto& record : records) {
    INFO(record.trial.label());
    CHECK(record.status == record::Status::ok);
    const auto& codec = record.trial.codec;
    if (codec == "none" || codec == "zstd") CHECK(record.fidelity->max_abs_difference == 0);
    if (codec != "sort8") continue;
    for (const auto& link : record.links) {
      if (link.to == 0) continue;
      constexpr std::int64_t kLevels = 4 * 2 * 4;  // of each tensor: 4 groups' lowest value and step
      CHECK(link.payload_bytes == link.unencoded_bytes.value() / 2 + link.header_bytes / 64 * kLevels);
    }
  }
}

TEST_CASE("--resume knows an archive by its contents: the same elsewhere is done, a changed one is another") {
  const ArchiveShell shell;
  shell.run(0, sweep_of_archive("net.pt"));
  const auto known = shell.records().size();
  std::filesystem::create_directory(shell.folder() / "moved");
  std::filesystem::rename(shell.folder() / "net.pt", shell.folder() / "moved" / "net.pt");
  shell.run(0, sweep_of_archive("moved/net.pt", "--resume"));
  CHECK(shell.records().size() == known);
  constexpr std::uint64_t kOtherWeights = 1;
  archive::write_archive(shell.folder() / "moved", archive::kClassifier, "net.pt", archive::Numbers::attributes,
                         kOtherWeights);
  shell.run(0, sweep_of_archive("moved/net.pt", "--resume"));
  CHECK(shell.records().size() == 2 * known);
}

TEST_CASE("models lists an archive's blocks by the author's names, as it does for a built-in model") {
  const ArchiveShell shell;
  const auto model =
      nlohmann::json::parse(shell.run(0, "models ./net.pt --input 4x4x4 --batch 3 --format json").output);
  std::vector<std::string> names;
  for (const auto& block : model.at("blocks")) names.push_back(block.at("name"));
  CHECK(names == std::vector<std::string>{"conv1..act", "block", "flatten..fc"});
  CHECK(model.at("blocks").at(0).at("output_shape") == nlohmann::json{3, 4, 4, 4});
  CHECK(model.at("archive").at("cuts") == "unit");
  CHECK(contains(shell.run("models ./net.pt --input 4x4x4").output, "conv1..act"));
}

TEST_CASE(
    "what is no archive, or is not asked for as one, is one sentence and exit code 2, and leaves no folder behind") {
  const ArchiveShell shell;
  shell.write("text.pt", "import torch\n");
  const auto whole = shell.text("net.pt");
  shell.write("half.pt", whole.substr(0, whole.size() / 2));
  check_refused(
      shell, "",
      {{sweep_of_archive("text.pt"), "is not a zip file"},
       {sweep_of_archive("half.pt"), "damaged"},
       {sweep_of_archive("missing.pt"), "missing.pt: No such file"},
       {sweep_of_archive("net.pt", "", "fashion-mnist"), "4x4x4"},
       {sweep_of_archive("net.pt", "--cuts layer9"), "\"layer9\""},
       {sweep_of_archive("net.pt", "--model ./net.pt"), "same file"},
       {sweep_of_archive("net.pt", "--weights text.pt"), "has weights of its own"},
       {sweep_of_archive("resnet18"), "resnet18 has its own input"},
       {sweep_of_archive("net.pt", "--max-crossing 3"), "max_crossing is 3"},
       {sweep_of_archive("./n\xff.pt"), "not valid UTF-8"},
       {"sweep --model net.pt --out out", "--input"},
       {"sweep --model net.pt --input 3x4x4 --data random --out out", "does not compute a batch of shape 1x3x4x4"},
       {"models text.pt --input 3x4x4", "is not a zip file"},
       {"models net.pt", "--input"},
       {"models ./n\xff.pt --input 4x4x4", "not valid UTF-8"},
       {"models net.pt --input 3x4x4", "does not compute a batch of shape 1x3x4x4"}});
}
