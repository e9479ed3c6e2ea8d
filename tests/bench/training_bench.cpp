#include <paretopipe/experiment/schedule.hpp>

#include <cmath>

#include "benches.hpp"
#include "report.hpp"
#include "trials.hpp"

namespace paretopipe::bench {
namespace {

// So long that 1 % of a step is more than all links and threads take.
constexpr int kForwardMs = 40, kBackwardMs = 60;
constexpr int kMicroBatch = 2;
constexpr int kSteps = 6;

/// Equal stages of one block each, which sleep.
experiment::Trial trial_of(experiment::Schedule schedule, int stages, int micro_batches) {
  experiment::Trial trial;
  const auto block = fmt::format("{}ms+{}ms", kForwardMs, kBackwardMs);
  trial.model = "synthetic:" + block;
  for (int cut = 1; cut < stages; ++cut) {
    trial.model += "/4kB," + block;
    trial.split_points.push_back(cut);
  }
  trial.block_count = stages;
  trial.batch = kMicroBatch * micro_batches;
  trial.micro_batch = micro_batches == 1 ? 0 : kMicroBatch;
  trial.training.emplace().schedule = schedule;
  trial.warmup = 2;
  trial.batches = kSteps;
  trial.data = "random";
  trial.cpus.assign(static_cast<std::size_t>(stages), "");
  return trial;
}

/// From one step to the next. Schedules that flush fill and drain the pipeline in every step (GPipe, arXiv:1811.06965,
/// section 2); PipeDream's keeps it full.
double true_step_ns(experiment::Schedule schedule, int stages, int micro_batches) {
  const int filling = schedule == experiment::Schedule::pipedream ? 0 : stages - 1;
  return 1e6 * (micro_batches + filling) * (kForwardMs + kBackwardMs);
}

/// Share of the time in which stages do not compute. PipeDream's pipeline drains once, after the last step: the stage
/// number s is ahead by s micro-batches when the measured steps begin, and so has nothing to do for as long at their
/// end.
double true_bubble(experiment::Schedule schedule, int stages, int micro_batches) {
  if (schedule == experiment::Schedule::pipedream) return (stages - 1) / 2.0 / (kSteps * micro_batches);
  return (stages - 1.0) / (micro_batches + stages - 1);
}

void bench_case(run::PipelineExecutor& executor, experiment::Schedule schedule, int stages, int micro_batches) {
  const auto trial = trial_of(schedule, stages, micro_batches);
  const auto record = run_trial(executor, trial);
  const auto& training = *record.summary->training;
  const double truth_ns = true_step_ns(schedule, stages, micro_batches);
  const double measured_ns = 1e9 * trial.batch / training.sample_per_s;
  const double bound_ns = std::max(0.01 * truth_ns, 1e5 * stages);
  const auto which = fmt::format("{}, {} stages, {} micro-batches", to_string(schedule), stages, micro_batches);
  print_row(fmt::format("error of a training step: {}", which),
            fmt::format("{:+.0f} us of {:.0f} ms", (measured_ns - truth_ns) * 1e-3, truth_ns * 1e-6),
            fmt::format("within {:.0f} us", bound_ns * 1e-3), std::abs(measured_ns - truth_ns) <= bound_ns);
  const double bubble = true_bubble(schedule, stages, micro_batches);
  print_row(fmt::format("error of a training's bubble: {}", which),
            fmt::format("{:+.2f} points of {:.1f} %", 100 * (training.bubble - bubble), 100 * bubble),
            "within 1.00 points", std::abs(training.bubble - bubble) <= 0.01);
}

}  // namespace

void bench_training(const std::filesystem::path& stage_program) {
  run::PipelineExecutor executor(options_with(stage_program));
  using experiment::Schedule;
  for (const auto schedule : {Schedule::gpipe, Schedule::one_f_one_b, Schedule::pipedream}) {
    for (const int stages : {2, 3, 4}) {
      for (const int micro_batches : {1, 4, 8}) {
        // PipeDream's pipeline is full only if there are as many micro-batches as stages between two steps.
        if (schedule == Schedule::pipedream && micro_batches < stages) continue;
        bench_case(executor, schedule, stages, micro_batches);
      }
    }
  }
}

}  // namespace paretopipe::bench
