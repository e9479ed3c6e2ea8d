// Sweeps that measure only what could be on the frontier.
#include <paretopipe/analysis/predict/profile.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

/// Long enough that this machine's own microseconds are far below 1 %.
const Words kFourBlocks = "--model synthetic:20ms/200kB,15ms/400kB,30ms/40kB,10ms";

/// The trials of a split, and the means of what they measured.
struct Trials {
  int count = 0;
  double latency_ns = 0;
  double throughput = 0;
};

std::map<int, Trials> trials_by_split(const std::vector<record::TrialRecord>& records) {
  std::map<int, Trials> trials;
  for (const auto& record : records) {
    if (record.status != record::Status::ok) continue;
    auto& own = trials[record.trial.split_points.front()];
    ++own.count;
    own.latency_ns += (record.summary->latency->p50_ns - own.latency_ns) / own.count;
    own.throughput += (*record.summary->throughput_image_per_s - own.throughput) / own.count;
  }
  return trials;
}

/// Has the profile say what the model says of itself, whatever others on this machine did while it was made.
void tell_the_truth(const std::filesystem::path& path, std::int64_t block_ns) {
  auto profile = predict::load_profile(path);
  for (auto& device : profile.devices) {
    for (auto& run : device.runs)
      run.compute_ns.assign(run.compute_ns.size(), std::max<std::int64_t>(1, (run.end - run.begin) * block_ns));
  }
  std::ofstream(path) << nlohmann::json(profile).dump();
}

/// True if what was measured holds the best, and nothing of it is better by more than 5 % than all that was measured
/// twice.
bool holds_frontier(const std::map<int, Trials>& trials) {
  const auto covered = [&](const auto& own) {
    return std::any_of(trials.begin(), trials.end(), [&](const auto& other) {
      return other.second.count == 2 && other.second.latency_ns <= 1.05 * own.second.latency_ns &&
             1.05 * other.second.throughput >= own.second.throughput;
    });
  };
  // Split 4 is predicted to have the highest throughput, and 8 does not split.
  return trials.contains(4) && trials.contains(8) && std::all_of(trials.begin(), trials.end(), covered);
}

}  // namespace

TEST_CASE("--partitions best profiles, predicts and measures, keeps the profile, and makes one again that is wrong") {
  const Shell shell;
  const auto sweep = Words("sweep --data random --repeat-slow 0 --repeat 1 --batches 8 --warmup 1 --shaping none") +
                     "--partitions best --out out" + kFourBlocks;
  check_contains(shell.run(0, sweep + "--dry-run").output, {"at most 5 trials would be run"});
  CHECK_FALSE(shell.has("out"));
  CHECK(contains(shell.run(0, sweep).output, "of 5 splits measured"));
  auto profile = predict::load_profile(shell.folder() / "out/profile.json");
  const auto made_at = profile.made_at;
  for (auto& device : profile.devices) {  // as if the devices were ten times as slow now
    for (auto& run : device.runs) {
      for (auto& ns : run.compute_ns) ns *= 10;
    }
  }
  std::filesystem::remove_all(shell.folder() / "out");
  std::filesystem::create_directories(shell.folder() / "out");
  shell.write("out/profile.json", nlohmann::json(profile).dump());
  check_contains(shell.run(0, sweep).output, {"The profile of " + made_at + " was wrong by", "so it was made again"});
  const auto again = predict::load_profile(shell.folder() / "out/profile.json");
  CHECK(again.devices[0].runs[0].compute_ns[0] < profile.devices[0].runs[0].compute_ns[0] / 2);
  check_refused(shell, Words("sweep --data random --out no") + kFourBlocks,
                {{"--partitions best --partitions 2", "leave the other --partitions out"},
                 {"--partitions best --repeat auto", "leave out --repeat auto"},
                 {"--partitions best --depth 1,2", "under one set of conditions"}});
}

TEST_CASE("a guided sweep measures what could be on the frontier, finds it, and says what it left out") {
  const Shell shell;
  // Cuts after 2, 4 and 6 blocks are cheap; the others move 1 MB at 100 Mbit/s, which takes 80 ms.
  const Words model = "--model synthetic:4ms/1MB,4ms/20kB,4ms/1MB,4ms/20kB,4ms/1MB,4ms/20kB,4ms/1MB,4ms";
  shell.write("slow.json", R"({"both": {"delay": "3 ms", "rate": "100 Mbit/s"}})");
  shell.run(0, Words("profile --out p.json --rounds 3") + model);
  tell_the_truth(shell.folder() / "p.json", 4'000'000);
  const auto sweep =
      Words("sweep --data random --repeat-slow 0 --batches 8 --warmup 1 --network ./slow.json --shaping emulated") +
      model;
  const auto twice = sweep + "--repeat 2";
  check_contains(shell.run(0, twice + "--out no --guided p.json --dry-run").output, {"at most 18 trials would be run"});
  support::Outcome outcome;
  std::map<int, Trials> trials;
  // Others on this machine may make the emulated link late, so that a trial does not count, or repetitions unlike.
  for (int attempts = 0; attempts < 5 && (outcome.exit_code != 0 || !holds_frontier(trials)); ++attempts) {
    std::filesystem::remove_all(shell.folder() / "out");
    outcome = shell.run(twice + "--out out --guided p.json");
    REQUIRE(outcome.exit_code <= 1);
    trials = trials_by_split(shell.records());
  }
  if (outcome.exit_code == 0) {
    CHECK(holds_frontier(trials));
    check_contains(outcome.output, {fmt::format("{} of 9 splits measured", trials.size())});
  }
  // What guides the choice is tested in unit_run with known measurements. Here others on this machine may make the
  // predictions so wrong that every split has to be measured.
  if (outcome.exit_code == 0 && trials.size() < 9)
    check_contains(outcome.output, {"For every unmeasured split there is a measured one with at most 5 % more latency",
                                    "too long by more than"});
  else
    WARN("a busy machine: " << outcome.output);
  check_refused(shell, sweep + "--out no", {{"--within 1%", "give --partitions best or --guided, too"}});
  check_refused(shell, sweep + "--out no --guided p.json",
                {{"--repeat auto", "leave out --repeat auto"},
                 {"--shard 1/2", "leave out --repeat auto, --shard"},
                 {"--depth 1,2", "under one set of conditions"},
                 {"--codec-input lz4", "leave out --codec-input"},
                 {"--codec none,lz4", "made without the codec lz4"},
                 {"--batch 2", "profile with the flags of the sweep"},
                 {"--guided none.json", "none.json"},
                 {"--within much", "\"much\""},
                 {"--stages 3", "hold 2 devices, and the pipeline has 3 stages"}});
}
