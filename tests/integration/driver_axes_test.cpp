// Lists of batches, micro-batches, depths and threads, and the baselines that splits are set against, as from a shell.
#include <paretopipe/analysis/stats/summarise.hpp>

#include <map>
#include <tuple>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

const Words kBatchOfEight = kOneRepetition + "--batch 8";
const Words kThreeStages =
    sweep_of("synthetic:1ms/4kB,1ms/4kB,1ms/4kB,1ms") + "--stages 3 --partitions 1,2 --batches 6 --warmup 1 --repeat 2";

/// How many records there are of each size of micro-batches.
std::map<int, int> sizes(const Shell& shell) {
  std::map<int, int> found;
  for (const auto& record : shell.records()) ++found[record.trial.images_per_micro_batch()];
  return found;
}

void check_sound(const record::TrialRecord& record) {
  INFO(record.trial.label());
  CHECK(record.status == record::Status::ok);
  CHECK(record.fidelity->max_abs_difference == 0);
  CHECK_NOTHROW(stats::check_summary(record));
}

}  // namespace

TEST_CASE(
    "every combination of batches, depths and threads is measured at every split, has a frontier of its own, and a "
    "plot shows and names those that are chosen") {
  const Shell shell;
  shell.run(0, kOneRepetition + "--batch 1,4 --depth 1,2,3 --threads-per-stage 1,2");
  std::map<std::tuple<int, int, int>, int> trials;
  for (const auto& record : shell.records()) {
    check_sound(record);
    CHECK(record.offline->depth == record.trial.depth);
    ++trials[{record.trial.batch, record.trial.depth, record.trial.threads_per_stage}];
  }
  CHECK(trials.size() == 12);
  for (const auto& [setting, count] : trials) CHECK(count == 4);
  CHECK(shell.as_json("frontier out").at("groups").size() == 12);
  check_contains(shell.run(0, "frontier out").output,
                 {"batch 4, depth 3, 2 threads per stage", "batch 1, depth 1, 1 thread per stage"});
  shell.run(0, "plot out --depth 1 --depth 3 --threads-per-stage 2 -o two.svg");
  CHECK(contains(shell.text("two.svg"), "depth 3"));
  CHECK_FALSE(contains(shell.text("two.svg"), "depth 2,"));
  CHECK_FALSE(contains(shell.text("two.svg"), "1 thread per stage"));
}

TEST_CASE(
    "micro-batches of a list are measured at every split, but for the whole batch where it was already, and then have "
    "frontiers, exports, plots and comparisons of their own") {
  const Shell shell;
  shell.run(0, kBatchOfEight);
  shell.run(0, kBatchOfEight + "--micro-batch 1,2,8 --resume");
  CHECK(sizes(shell) == std::map<int, int>{{1, 4}, {2, 4}, {8, 4}});
  for (const auto& record : shell.records()) {
    check_sound(record);
    CHECK(record.offline->micro_batches == record.trial.micro_batches());
  }
  check_contains(shell.run(0, "frontier out").output,
                 {"batch 8, micro-batch 2, depth", "batch 8, micro-batch 1, depth", "batch 8, depth"});
  export_in(shell, {"trials", "batches", "jsonl", "trace --trial " + shell.records().back().trial.id()});
  CHECK(contains(shell.text("exported/trials.csv"), ",micro_batch,"));
  CHECK(contains(shell.run("export out --layout python --out exported").errors, "cut into micro-batches"));
  shell.run(0, "compare out out");
  shell.run(0, "plot out --micro-batch 2 -o two.svg");
  CHECK(contains(shell.text("two.svg"), "micro-batch 2"));
  CHECK_FALSE(contains(shell.text("two.svg"), "micro-batch 1"));
}

TEST_CASE("a list goes on where a sweep of one of its values was") {
  const Shell shell;
  shell.run(0, kOneRepetition + "--batch 4");
  const auto first = shell.records();
  shell.run(0, kOneRepetition + "--batch 2,4 --resume");
  const auto both = shell.records();
  REQUIRE(both.size() == 2 * first.size());
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(both[i] == first[i]);
  for (std::size_t i = first.size(); i < both.size(); ++i) CHECK(both[i].trial.batch == 2);
}

TEST_CASE("a file's lists are planned, a flag wins over them, and micro-batches cut the batches that they divide") {
  const Shell shell;
  shell.write("lists.json", R"({"batch": [6, 4], "depth": [1, 2], "micro_batches": [2, 4]})");
  const auto planned = [&](const std::string& flags) {
    return shell.run("sweep lists.json --model synthetic:0ms/4kB,0ms --data random --split 1 --repeat 1 --dry-run " +
                     flags);
  };
  const auto from_file = planned("").output;
  INFO(from_file);
  CHECK(occurrences(from_file, "batch 6 micro-batch 2 repetition") == 2);
  CHECK(occurrences(from_file, "batch 4 micro-batch 2 repetition") == 2);
  CHECK(occurrences(from_file, "batch 4 repetition") == 2);
  CHECK(contains(from_file, "6 trials would be run"));
  CHECK(occurrences(from_file, "repetition 1 depth 2\n") == 3);
  CHECK(contains(planned("--depth 3").output, "3 trials would be run"));
  CHECK(contains(planned("--micro-batch 1").output, "batch 6 micro-batch 1"));
  CHECK_FALSE(contains(planned("--micro-batch 1").output, "micro-batch 2"));
  CHECK(planned("--batch 5").exit_code == 2);
  CHECK(contains(planned("--batch 5").errors, "which does not divide the batch of 5"));
}

TEST_CASE("adaptive sweeps judge every batch by itself") {
  const Shell shell;
  shell.run(0, kInstantSweep + "--repeat auto --max-repeat 3 --batch 1,2");
  std::map<int, std::set<int>> repetitions;
  for (const auto& record : shell.records()) repetitions[record.trial.batch].insert(record.trial.repetition);
  CHECK(repetitions == std::map<int, std::set<int>>{{1, {0, 1, 2}}, {2, {0, 1, 2}}});
}

TEST_CASE("lists that make no sense are refused by the flag or the key, and nothing is run") {
  check_refused(
      Shell(), kOneRepetition,
      {{"--batch 4,x", "--batch is \"4,x\"; it must be a number up to 65536, or a list of them such as 1,2,4"},
       {"--batch 4,", "--batch is \"4,\""},
       {"--batch 65537", "--batch is \"65537\""},
       {"--depth 1,257", "experiment.depth holds 257; it must be from 1 to 256"},
       {"--depth 0-2", "experiment.depth holds 0"},
       {"--threads-per-stage 2000", "experiment.threads_per_stage is 2000"},
       {"--threads-per-stage 1.5", "--threads-per-stage is \"1.5\""},
       {"--batch 4,9 --micro-batch 2,4", "experiment.batch holds 9"},
       {"--baseline double", "\"double\" is not a baseline; it must be single, sequential or data-parallel"},
       {"--baseline single --baseline single", "experiment.baselines names \"single\" twice"}});
  check_refused(Shell(), kBatchOfEight + "--micro-batch",
                {{"16", "holds 16; a batch of 8 can be cut into micro-batches of 1 to 8"},
                 {"0", "holds 0; a batch of 8"},
                 {"4,3", "holds 3, which does not divide the batch of 8"},
                 {"-2", "--micro-batch"},
                 {"2.5", "--micro-batch is \"2.5\""},
                 {"many", "--micro-batch is \"many\""},
                 {"''", "--micro-batch"},
                 {"1000000", "--micro-batch is \"1000000\""}});
}

TEST_CASE(
    "the baseline of one device is measured beside the partitions if it is asked for, and every partition set against "
    "it") {
  const Shell shell;
  shell.run(0, kThreeStages);
  CHECK(shell.records().size() == 2);
  const auto without = shell.run(0, "frontier out --format json").output;
  CHECK_FALSE(contains(without, "speed_up_single"));
  CHECK(contains(without, "speed_up_sequential"));

  shell.run(0, kThreeStages + "--baseline single --baseline sequential --resume");
  std::map<std::vector<int>, int> trials;
  for (const auto& record : shell.records()) ++trials[record.trial.split_points];
  CHECK(trials == std::map<std::vector<int>, int>{{{1, 2}, 2}, {{4, 4}, 2}});
  const auto with = shell.as_json("frontier out");
  const auto& cut = with.at("groups").at(0).at("splits").at(0);
  const auto& local = with.at("groups").at(0).at("splits").at(1);
  const double throughput = cut.at("throughput_image_per_s");
  CHECK(cut.at("speed_up_single").get<double>() ==
        Approx(throughput / local.at("throughput_image_per_s").get<double>()));
  CHECK(local.at("speed_up_single") == 1);
  CHECK(cut.at("speed_up_sequential").get<double>() > 0);
  CHECK(contains(shell.run("frontier out --format csv").output, ",speed_up_single,speed_up_sequential,"));

  const auto explained = shell.as_json("explain out");
  const auto& why = explained.at("groups").at(0).at("configurations").at(0);
  CHECK(why.at("speed_up_single").get<double>() == Approx(cut.at("speed_up_single").get<double>()));
  CHECK(why.at("speed_up_sequential").get<double>() > 0);

  export_in(shell, {"stages"});  // what each stage used, a row a stage
  const auto csv = shell.text("exported/stages.csv");
  CHECK(occurrences(csv, "\n") == 1 + 2 * 3 + 2);  // alone, one stage takes part
  for (const auto& record : shell.records()) {
    for (const auto& stage : record.stages) {
      CHECK(stage.usage.user_time_ns + stage.usage.system_time_ns > 0);
      CHECK(stage.usage.voluntary_context_switches > 0);  // blocks that sleep, and threads that wait for a socket
      CHECK(contains(csv, fmt::format(",{},{},{},", stage.usage.user_time_ns, stage.usage.system_time_ns,
                                      stage.usage.voluntary_context_switches)));
    }
  }
}
