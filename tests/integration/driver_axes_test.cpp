// Lists of batches, depths and threads, and the baselines that splits are set against, as from a shell.
#include <map>
#include <set>
#include <tuple>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

namespace {

const Shell::Words kOnce = kInstantSweep + Shell::Words{"--warmup", "1", "--repeat", "1"};
const Shell::Words kThreeStages =
    sweep_of("synthetic:1ms/4kB,1ms/4kB,1ms/4kB,1ms") +
    Shell::Words{"--stages", "3", "--partitions", "1,2", "--batches", "6", "--warmup", "1", "--repeat", "2"};

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("every combination of batches, depths and threads is measured at every split, with a frontier of its own") {
  const Shell shell;
  const auto sweep = shell.run(kOnce + Shell::Words{"--batch", "1,4", "--depth", "1,3", "--threads-per-stage", "1,2"});
  INFO(sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  std::map<std::tuple<int, int, int>, int> trials;
  for (const auto& record : shell.records()) {
    INFO(record.trial.label());
    CHECK(record.status == record::Status::ok);
    CHECK(record.offline->depth == record.trial.depth);
    CHECK(record.fidelity->max_abs_difference == 0);
    ++trials[{record.trial.batch, record.trial.depth, record.trial.threads_per_stage}];
  }
  CHECK(trials.size() == 8);
  for (const auto& [setting, count] : trials) CHECK(count == 4);
  const auto frontier = shell.run({"frontier", "out", "--format", "json"});
  REQUIRE(frontier.exit_code == 0);
  CHECK(nlohmann::json::parse(frontier.output).at("groups").size() == 8);
  const auto text = shell.run({"frontier", "out"}).output;
  CHECK(contains(text, "batch 4, depth 3, 2 threads per stage"));
  CHECK(contains(text, "batch 1, depth 1, 1 thread per stage"));
}

TEST_CASE("of many depths and threads a plot shows those that are chosen, and names them") {
  const Shell shell;
  REQUIRE(shell.run(kOnce + Shell::Words{"--depth", "1,2,3", "--threads-per-stage", "1,2"}).exit_code == 0);
  REQUIRE(shell.run({"plot", "out", "--depth", "1", "--depth", "3", "--threads-per-stage", "2", "-o", "two.svg"})
              .exit_code == 0);
  const auto drawn = support::read_file(shell.folder() / "two.svg");
  CHECK(contains(drawn, "depth 3"));
  CHECK_FALSE(contains(drawn, "depth 2,"));
  CHECK_FALSE(contains(drawn, "1 thread per stage"));
}

TEST_CASE("a list goes on where a sweep of one of its values was") {
  const Shell shell;
  REQUIRE(shell.run(kOnce + Shell::Words{"--batch", "4"}).exit_code == 0);
  const auto first = shell.records();
  REQUIRE(shell.run(kOnce + Shell::Words{"--batch", "2,4", "--resume"}).exit_code == 0);
  const auto both = shell.records();
  REQUIRE(both.size() == 2 * first.size());
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(both[i] == first[i]);
  for (std::size_t i = first.size(); i < both.size(); ++i) CHECK(both[i].trial.batch == 2);
}

TEST_CASE("a file's lists are planned, a flag wins over them, and micro-batches cut the batches that they divide") {
  const Shell shell;
  support::write_file(shell.folder() / "lists.json", R"({"batch": [6, 4], "depth": [1, 2], "micro_batches": [2, 4]})");
  const auto planned = [&](const Shell::Words& flags) {
    return shell.run(Shell::Words{"sweep", "lists.json", "--model", "synthetic:0ms/4kB,0ms", "--data", "random",
                                  "--split", "1", "--repeat", "1", "--dry-run"} +
                     flags);
  };
  const auto from_file = planned({}).output;
  INFO(from_file);
  CHECK(occurrences(from_file, "batch 6 micro-batch 2 repetition") == 2);
  CHECK(occurrences(from_file, "batch 4 micro-batch 2 repetition") == 2);
  CHECK(occurrences(from_file, "batch 4 repetition") == 2);
  CHECK(contains(from_file, "6 trials would be run"));
  CHECK(occurrences(from_file, "repetition 1 depth 2\n") == 3);
  CHECK(contains(planned({"--depth", "3"}).output, "3 trials would be run"));
  CHECK(contains(planned({"--batch", "5"}).errors, "which does not divide the batch of 5"));
}

TEST_CASE("adaptive sweeps judge every batch by itself") {
  const Shell shell;
  const auto sweep = shell.run(kInstantSweep + Shell::Words{"--repeat", "auto", "--max-repeat", "3", "--batch", "1,2"});
  INFO(sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  std::map<int, std::set<int>> repetitions;
  for (const auto& record : shell.records()) repetitions[record.trial.batch].insert(record.trial.repetition);
  CHECK(repetitions == std::map<int, std::set<int>>{{1, {0, 1, 2}}, {2, {0, 1, 2}}});
}

TEST_CASE("lists that make no sense are refused by the flag or the key, and nothing is run") {
  struct Refused {
    Shell::Words words;
    std::string named;
  };
  const auto refused = GENERATE(values<Refused>({
      {{"--batch", "4,x"}, "--batch is \"4,x\"; it must be a number up to 65536, or a list of them such as 1,2,4"},
      {{"--batch", "4,"}, "--batch is \"4,\""},
      {{"--batch", "65537"}, "--batch is \"65537\""},
      {{"--depth", "1,257"}, "experiment.depth holds 257; it must be from 1 to 256"},
      {{"--depth", "0-2"}, "experiment.depth holds 0"},
      {{"--threads-per-stage", "2000"}, "experiment.threads_per_stage is 2000"},
      {{"--threads-per-stage", "1.5"}, "--threads-per-stage is \"1.5\""},
      {{"--batch", "4,9", "--micro-batch", "2,4"}, "experiment.batch holds 9"},
      {{"--baseline", "double"}, "\"double\" is not a baseline; it must be single, sequential or data-parallel"},
      {{"--baseline", "single", "--baseline", "single"}, "experiment.baselines names \"single\" twice"},
  }));
  const Shell shell;
  const auto answer = shell.run(kOnce + refused.words);
  INFO(answer.errors);
  CHECK(answer.exit_code == 2);
  CHECK(contains(answer.errors, refused.named));
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "out"));
}

TEST_CASE("the baseline of one device is measured beside the partitions, and every partition set against it") {
  const Shell shell;
  const auto sweep = shell.run(kThreeStages + Shell::Words{"--baseline", "single", "--baseline", "sequential"});
  INFO(sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  std::map<std::vector<int>, int> trials;
  for (const auto& record : shell.records()) ++trials[record.trial.split_points];
  CHECK(trials == std::map<std::vector<int>, int>{{{1, 2}, 2}, {{4, 4}, 2}});

  const auto frontier = shell.run({"frontier", "out", "--format", "json"});
  REQUIRE(frontier.exit_code == 0);
  const auto splits = nlohmann::json::parse(frontier.output).at("groups").at(0).at("splits");
  const auto& cut = splits.at(0);
  const auto& local = splits.at(1);
  const double throughput = cut.at("throughput_image_per_s");
  CHECK(cut.at("speed_up_single").get<double>() ==
        Approx(throughput / local.at("throughput_image_per_s").get<double>()));
  CHECK(local.at("speed_up_single") == 1);
  CHECK(cut.at("speed_up_sequential").get<double>() > 0);
  CHECK(contains(shell.run({"frontier", "out", "--format", "csv"}).output, ",speed_up_single,speed_up_sequential,"));

  const auto explained = nlohmann::json::parse(shell.run({"explain", "out", "--format", "json"}).output);
  const auto& why = explained.at("groups").at(0).at("configurations").at(0);
  CHECK(why.at("speed_up_single").get<double>() == Approx(cut.at("speed_up_single").get<double>()));
  CHECK(why.at("speed_up_sequential").get<double>() > 0);
}

TEST_CASE("without the baseline no trial is added, and no speed-up over it is told") {
  const Shell shell;
  REQUIRE(shell.run(kThreeStages).exit_code == 0);
  CHECK(shell.records().size() == 2);
  const auto frontier = shell.run({"frontier", "out", "--format", "json"}).output;
  CHECK_FALSE(contains(frontier, "speed_up_single"));
  CHECK(contains(frontier, "speed_up_sequential"));
}

TEST_CASE("what each stage used is exported, a row a stage") {
  const Shell shell;
  REQUIRE(shell.run(kThreeStages + Shell::Words{"--baseline", "single"}).exit_code == 0);
  REQUIRE(shell.run({"export", "out", "--layout", "stages", "--out", "exported"}).exit_code == 0);
  const auto csv = support::read_file(shell.folder() / "exported" / "stages.csv");
  CHECK(occurrences(csv, "\n") == 1 + 2 * 3 + 2);  // alone, one stage takes part
  for (const auto& record : shell.records()) {
    for (const auto& stage : record.stages) {
      CHECK(stage.usage.user_time_ns + stage.usage.system_time_ns > 0);
      CHECK(stage.usage.voluntary_context_switches > 0);  // blocks that sleep, and threads that wait for a socket
      CHECK(contains(csv, "," + std::to_string(stage.usage.user_time_ns) + "," +
                              std::to_string(stage.usage.system_time_ns) + "," +
                              std::to_string(stage.usage.voluntary_context_switches) + ","));
    }
  }
}
