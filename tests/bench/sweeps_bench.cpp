#include <paretopipe/analysis/stats/bootstrap.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/clock.hpp>
#include <paretopipe/host/cpu_set.hpp>
#include <paretopipe/record/store.hpp>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include <support/temporary_folder.hpp>

#include "benches.hpp"
#include "report.hpp"
#include "trials.hpp"

namespace paretopipe::bench {
namespace {

struct SweepsCase {
  std::string model;
  int block_count;
  std::vector<int> splits;
  int batch;
  int repetitions;
};

/// What one mode's sweep took, in seconds.
struct Spent {
  double wall = 0;
  double start = 0;         ///< beyond the batches of the first trial: processes, weights, the unsplit model's outputs
  double batches = 0;       ///< both phases of all trials, warm-up included
  double preparations = 0;  ///< that were made, of the slowest stage of each trial; of the trials but the first
  std::vector<double> beyond;      ///< of each trial but the first: what it took beyond its batches
  std::vector<double> unprepared;  ///< the same, without the preparations
  std::vector<double> seen;        ///< of those whose graphs were all there, or which need none

  double all_beyond() const { return std::accumulate(beyond.begin(), beyond.end(), 0.0); }
};

std::vector<experiment::Trial> trials_of(const SweepsCase& point, const host::CpuSet& cpus,
                                         experiment::Compute compute) {
  experiment::Trial trial;
  trial.model = point.model;
  trial.block_count = point.block_count;
  trial.batch = point.batch;
  trial.batches = 2;
  trial.depth = 2;
  trial.data = "random";
  trial.cpus = {std::to_string(cpus.front()), std::to_string(cpus.back())};
  trial.compute.compute = compute;
  std::vector<experiment::Trial> trials;
  for (trial.repetition = 0; trial.repetition < point.repetitions; ++trial.repetition) {
    for (const int split : point.splits) {
      trial.split_points = {split};
      trials.push_back(trial);
    }
  }
  return trials;
}

/// One mode's stages and records; the other mode's are idle while it measures.
class ModeSweep {
 public:
  ModeSweep(const std::filesystem::path& stage_program, std::vector<experiment::Trial> trials,
            const std::string& folder)
      : executor_(options_with(stage_program)), store_(results_.path() / folder, false), trials_(std::move(trials)) {
    executor_.expect(trials_);
  }

  void run(std::size_t index) {
    const auto begin = now_ns();
    const auto record = run_trial(executor_, trials_[index]);
    store_.append(record);
    const double wall = seconds(now_ns() - begin);
    const double batches =
        seconds(record.single_stream->results.completed.back() + record.offline->results.completed.back());
    spent_.wall += wall;
    spent_.batches += batches;
    if (index == 0) {
      spent_.start = wall - batches;
      return;
    }
    spent_.beyond.push_back(wall - batches);
    std::int64_t slowest = 0;
    for (const auto& stage : record.stages) {
      if (stage.prepared && stage.prepared->made) slowest = std::max(slowest, stage.prepared->duration_ns);
    }
    spent_.preparations += seconds(slowest);
    spent_.unprepared.push_back(wall - batches - seconds(slowest));
    if (slowest == 0) spent_.seen.push_back(wall - batches);
  }

  const Spent& spent() const { return spent_; }

 private:
  static double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

  support::TemporaryFolder results_;
  run::PipelineExecutor executor_;
  record::RecordStore store_;
  std::vector<experiment::Trial> trials_;
  Spent spent_;
};

void print_mode(const std::string& name, const Spent& spent) {
  print_row(name + ": wall time", fmt::format("{:.2f} s", spent.wall));
  print_row(name + ": of that in batches", fmt::format("{:.2f} s", spent.batches));
  print_row(name + ": until the first trial's batches", fmt::format("{:.2f} s", spent.start));
  print_row(name + ": preparations after it", fmt::format("{:.2f} s", spent.preparations));
  print_row(name + ": beyond its batches, a later trial (mean)",
            fmt::format("{:.0f} ms", 1e3 * spent.all_beyond() / static_cast<double>(spent.beyond.size())));
}

/// Trial by trial, since both modes measure them in turns; the interval says how much of it is chance.
void print_more_than_eager(const std::string& name, const Spent& optimized, const Spent& eager) {
  std::vector<double> more;
  for (std::size_t i = 0; i < eager.beyond.size(); ++i)
    more.push_back(1e3 * (optimized.unprepared[i] - eager.beyond[i]));
  const auto interval = stats::median_interval(more, /*seed=*/1);
  print_row(name + ": more than eager, without preparations",
            fmt::format("{:.1f} ms ({:.1f} to {:.1f})", *stats::median(more), interval->low, interval->high),
            "at most 0 ms a trial", *stats::median(more) <= 0);
}

void bench_sweeps_case(const std::filesystem::path& stage_program, const SweepsCase& point) {
  const auto cpus = host::current_affinity();
  const auto optimized_trials = trials_of(point, cpus, experiment::Compute::optimized);
  ModeSweep optimized(stage_program, optimized_trials, "optimized");
  ModeSweep eager(stage_program, trials_of(point, cpus, experiment::Compute::eager), "eager");
  for (std::size_t i = 0; i < optimized_trials.size(); ++i) {
    optimized.run(i);
    eager.run(i);
  }
  const auto name = fmt::format("{} batch {}, {} trials", point.model, point.batch, optimized_trials.size());
  print_mode(name + ", optimized", optimized.spent());
  print_mode(name + ", eager", eager.spent());
  if (!optimized.spent().seen.empty()) {
    const auto seen = *stats::median(optimized.spent().seen);
    print_row(name + ": ranges seen before", fmt::format("{:.1f} ms", 1e3 * seen), "at most 50 ms a trial",
              seen <= 0.05);
  }
  print_more_than_eager(name, optimized.spent(), eager.spent());
}

}  // namespace

void bench_sweeps(const std::filesystem::path& stage_program) {
  std::vector<int> every(18);
  std::iota(every.begin(), every.end(), 1);
  bench_sweeps_case(stage_program, {"vgg16", 35, {5, 20, 30}, 1, 5});
  bench_sweeps_case(stage_program, {"mobilenet_v2", 20, every, 8, 2});
}

}  // namespace paretopipe::bench
