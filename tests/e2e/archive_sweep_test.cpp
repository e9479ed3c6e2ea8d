// A person's own model, from the file to the frontier.
#include <paretopipe/record/store.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/program.hpp>
#include <support/temporary_folder.hpp>
#include <unit/archive/archives.hpp>

using namespace paretopipe;
using support::contains;

namespace {

support::Outcome paretopipe_in(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), PARETOPIPE_BIN_DIR "/paretopipe");
  return support::Program(arguments, folder).wait();
}

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream stream(command);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::vector<std::string> sweep_of(const std::string& model, std::vector<std::string> more = {},
                                  const std::string& data = "random") {
  std::vector<std::string> arguments{
      "sweep", "--model",       model, "--input",   "4x4x4", "--data",   data, "--batch", "2",  "--repeat",
      "1",     "--repeat-slow", "0",   "--batches", "3",     "--warmup", "1",  "--out",   "out"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_CASE("a sweep of an archive in eager mode measures every cut, and no output differs from the unsplit model's") {
  const support::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "my models");
  archive::write_archive(folder.path() / "my models", archive::kClassifier);
  const auto sweep =
      paretopipe_in(folder.path(), sweep_of("my models/net.pt", {"--compute", "eager", "--cuts", "all"}));
  INFO(sweep.output << sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  std::set<int> splits;
  for (const auto& record : record::read_records(folder.path() / "out").records) {
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

  const auto frontier = paretopipe_in(folder.path(), {"frontier", "out"});
  INFO(frontier.output << frontier.errors);
  CHECK(frontier.exit_code == 0);
  CHECK(contains(frontier.output, "net.pt (cuts all, SHA-256 "));
}

TEST_CASE("an archive is cut into more than two stages too, also by the times of its blocks") {
  const support::TemporaryFolder folder;
  archive::write_archive(folder.path(), archive::kClassifier);
  const auto sweep =
      paretopipe_in(folder.path(), sweep_of("net.pt", {"--compute", "eager", "--cuts", "all", "--stages", "3",
                                                       "--partitions", "2,5", "--partitions", "equal-time"}));
  INFO(sweep.output << sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  bool listed = false;
  for (const auto& record : record::read_records(folder.path() / "out").records) {
    INFO(record.trial.label());
    CHECK(record.trial.stage_count() == 3);
    CHECK(record.fidelity->max_abs_difference == 0);
    if (record.trial.split_points == std::vector<int>{2, 5}) listed = true;
  }
  CHECK(listed);
}

TEST_CASE("where two tensors may cross, a residual block is cut inside too, in whole batches and in micro-batches") {
  const support::TemporaryFolder folder;
  archive::write_archive(folder.path(), archive::kClassifier);
  const auto sweep = paretopipe_in(folder.path(), sweep_of("net.pt", {"--compute", "eager", "--cuts", "all",
                                                                      "--max-crossing", "2", "--micro-batch", "1,2"}));
  INFO(sweep.output << sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  std::set<int> splits;
  std::set<int> crossed_by_two;
  for (const auto& record : record::read_records(folder.path() / "out").records) {
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

  const auto frontier = paretopipe_in(folder.path(), {"frontier", "out"});
  CHECK(contains(frontier.output, "net.pt (cuts all of up to 2 tensors, SHA-256 "));
  const auto models =
      paretopipe_in(folder.path(), {"models", "./net.pt", "--input", "4x4x4", "--cuts", "all", "--max-crossing", "2"});
  CHECK(contains(models.output, "act + block.bn1"));
  CHECK(contains(models.output, "1x4x4x4 + 1x4x4x4"));
}

TEST_CASE("unless told otherwise, a sweep of an archive computes optimized, within the tolerance, in any partition") {
  const support::TemporaryFolder folder;
  archive::write_archive(folder.path(), archive::kClassifier);
  const auto sweep = paretopipe_in(
      folder.path(),
      words_of("sweep --model ./net.pt --input 4x4x4 --cuts all --data random --stages 3 --partitions 2,5 "
               "--partitions equal-time --baseline single --baseline data-parallel --batch 2 "
               "--micro-batch 1,2 --depth 3 --batches 6 --warmup 1 --repeat 1 --repeat-slow 0 --out out"));
  INFO(sweep.output << sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  std::set<int> kinds;  // of the baselines and the partitions
  for (const auto& record : record::read_records(folder.path() / "out").records) {
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
  const support::TemporaryFolder folder;
  archive::write_deep_archive(folder.path(), kLayers, kFeatures);
  const auto sweep = paretopipe_in(
      folder.path(),
      words_of(fmt::format("sweep --model ./deep.pt --input {} --compute eager --data random --split {} --batches 2 "
                           "--warmup 0 --repeat 1 --repeat-slow 0 --out out",
                           kFeatures, kLayers - 1)));
  INFO(sweep.output << sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  const auto records = record::read_records(folder.path() / "out").records;
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
  const std::vector<std::vector<std::string>> modes{{"--compute", "eager", "--dtype", "bfloat16"},
                                                    {"--compute", "optimized"},
                                                    {"--dtype", "bfloat16"},
                                                    {"--memory-format", "channels_last"}};
  for (auto options : modes) {
    const support::TemporaryFolder folder;
    archive::write_archive(folder.path(), archive::kClassifier);
    options.insert(options.end(), {"--cuts", "all", "--max-crossing", "2", "--stages", "3", "--partitions", "4,6",
                                   "--partitions", "3,8"});
    const auto sweep = paretopipe_in(folder.path(), sweep_of("net.pt", options));
    INFO(sweep.output << sweep.errors);
    REQUIRE(sweep.exit_code == 0);
    std::ptrdiff_t crossed_by_two = 0;
    for (const auto& record : record::read_records(folder.path() / "out").records) {
      CHECK(record.status == record::Status::ok);
      for (const auto& link : record.links) crossed_by_two += link.header_bytes == 2 * 64;
    }
    CHECK(crossed_by_two == 3);
  }
}

TEST_CASE("--resume knows an archive by its contents: the same elsewhere is done, a changed one is another") {
  const support::TemporaryFolder folder;
  archive::write_archive(folder.path(), archive::kClassifier);
  REQUIRE(paretopipe_in(folder.path(), sweep_of("net.pt")).exit_code == 0);
  const auto known = record::read_records(folder.path() / "out").records.size();
  std::filesystem::create_directory(folder.path() / "moved");
  std::filesystem::rename(folder.path() / "net.pt", folder.path() / "moved" / "net.pt");
  REQUIRE(paretopipe_in(folder.path(), sweep_of("moved/net.pt", {"--resume"})).exit_code == 0);
  CHECK(record::read_records(folder.path() / "out").records.size() == known);
  archive::write_archive(folder.path() / "moved", archive::kClassifier);  // other random weights
  REQUIRE(paretopipe_in(folder.path(), sweep_of("moved/net.pt", {"--resume"})).exit_code == 0);
  CHECK(record::read_records(folder.path() / "out").records.size() == 2 * known);
}

TEST_CASE("models lists an archive's blocks by the author's names, as it does for a built-in model") {
  const support::TemporaryFolder folder;
  archive::write_archive(folder.path(), archive::kClassifier);
  const auto answer =
      paretopipe_in(folder.path(), {"models", "./net.pt", "--input", "4x4x4", "--batch", "3", "--format", "json"});
  INFO(answer.output << answer.errors);
  REQUIRE(answer.exit_code == 0);
  const auto model = nlohmann::json::parse(answer.output);
  std::vector<std::string> names;
  for (const auto& block : model.at("blocks")) names.push_back(block.at("name"));
  CHECK(names == std::vector<std::string>{"conv1..act", "block", "flatten..fc"});
  CHECK(model.at("blocks").at(0).at("output_shape") == nlohmann::json{3, 4, 4, 4});
  CHECK(model.at("archive").at("cuts") == "unit");
  const auto table = paretopipe_in(folder.path(), {"models", "./net.pt", "--input", "4x4x4"});
  CHECK(contains(table.output, "conv1..act"));
}

TEST_CASE(
    "what is no archive, or is not asked for as one, is one sentence and exit code 2, and leaves no folder behind") {
  const support::TemporaryFolder folder;
  archive::write_archive(folder.path(), archive::kClassifier);
  std::ofstream(folder.path() / "text.pt") << "import torch\n";
  const auto whole = support::read_file(folder.path() / "net.pt");
  std::ofstream(folder.path() / "half.pt", std::ios::binary) << whole.substr(0, whole.size() / 2);
  const auto refused = [&](const std::vector<std::string>& arguments, const char* part) {
    const auto outcome = paretopipe_in(folder.path(), arguments);
    INFO(outcome.output << outcome.errors);
    CHECK(outcome.exit_code == 2);
    CHECK(contains(outcome.errors, part));
    CHECK(outcome.output.empty());
    CHECK_FALSE(std::filesystem::exists(folder.path() / "out"));
  };
  refused(sweep_of("text.pt"), "is no zip file");
  refused(sweep_of("half.pt"), "damaged");
  refused(sweep_of("missing.pt"), "missing.pt: No such file");
  refused(sweep_of("net.pt", {}, "fashion-mnist"), "4x4x4");
  refused(sweep_of("net.pt", {"--cuts", "layer9"}), "\"layer9\"");
  refused(sweep_of("net.pt", {"--model", "./net.pt"}), "same file");
  refused(sweep_of("net.pt", {"--weights", "text.pt"}), "has weights of its own");
  refused(sweep_of("resnet18"), "resnet18 has its own input");
  refused(sweep_of("net.pt", {"--max-crossing", "3"}), "max_crossing is 3");
  refused({"sweep", "--model", "net.pt", "--out", "out"}, "--input");
  refused({"models", "text.pt", "--input", "3x4x4"}, "is no zip file");
  refused({"models", "net.pt"}, "--input");
  refused({"models", "./n\xff.pt", "--input", "4x4x4"}, "not valid UTF-8");
  refused(sweep_of("./n\xff.pt"), "not valid UTF-8");
  refused({"models", "net.pt", "--input", "3x4x4"}, "does not compute a batch of shape 1x3x4x4");
  refused({"sweep", "--model", "net.pt", "--input", "3x4x4", "--data", "random", "--out", "out"},
          "does not compute a batch of shape 1x3x4x4");
}
