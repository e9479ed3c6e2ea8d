#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/experiment.hpp>
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/experiment/partitions.hpp>
#include <paretopipe/experiment/schedule.hpp>
#include <paretopipe/experiment/shard.hpp>
#include <paretopipe/experiment/trial.hpp>
#include <paretopipe/host/cpu_set.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/record/store.hpp>
#include <paretopipe/run/adaptive_sweep.hpp>
#include <paretopipe/run/prepare_sweep.hpp>
#include <paretopipe/run/sweep.hpp>
#include <paretopipe/run/trial_requests.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "commands.hpp"
#include "sweep_guide.hpp"
#include "sweep_setup.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

bool is_part(const SweepOptions& options) {
  return options.shard != experiment::Shard{};
}

std::filesystem::path usual_folder(const SweepOptions& options, const experiment::Experiment& experiment) {
  if (!options.experiment_file.empty()) return std::filesystem::path("results") / options.experiment_file.stem();
  const auto& model = experiment.models.front();
  if (experiment::names_archive(model)) return std::filesystem::path("results") / std::filesystem::path(model).stem();
  return std::filesystem::path("results") / model.substr(0, model.find(':'));
}

std::filesystem::path results_folder(const SweepOptions& options, const experiment::Experiment& experiment) {
  if (!options.out.empty()) return options.out;
  const auto folder = usual_folder(options, experiment);
  // Shards are measured at the same time, perhaps on one file system.
  if (!is_part(options)) return folder;
  return folder / fmt::format("shard-{}-of-{}", options.shard.number, options.shard.count);
}

/// Refuses a plan that may differ from shard to shard, and so have gaps and overlaps.
void check_shard(const SweepOptions& options, const experiment::Experiment& experiment) {
  if (!is_part(options) || !experiment::wants_equal_time(experiment)) return;
  throw UsageError(
      "--shard needs a plan that is the same in every shard, and the cuts of equal-time follow from a measurement that "
      "each shard would make anew: measure equal-time without --shard, or list its split points");
}

/// The settings that a trial's label leaves out because they seldom vary.
std::string axes_of(const experiment::Trial& trial, const experiment::Experiment& experiment) {
  const auto depth = experiment.depth.size() > 1 ? fmt::format(" depth {}", trial.depth) : "";
  const auto threads =
      experiment.threads_per_stage.size() > 1 ? fmt::format(" threads {}", trial.threads_per_stage) : "";
  return fmt::format("{}{}", depth, threads);
}

/// Prints what the stages of a training do in its first step, each distinct schedule once.
void print_schedules(const std::vector<experiment::Trial>& trials) {
  std::set<std::string> printed;
  for (const auto& trial : trials) {
    if (!trial.training) continue;
    const auto extent = run::training_extent(trial, 1);
    const auto stages = experiment::schedule_of(trial.training->schedule, extent);
    auto text =
        fmt::format("{}, {} micro-batches a step:\n", to_string(trial.training->schedule), trial.micro_batches());
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      const auto actions = experiment::to_string(stages[stage]);
      text += extent.replicas > 1 ? fmt::format("  each of {} replicas: {}\n", extent.replicas, actions)
                                  : fmt::format("  stage {}: {}\n", stage, actions);
    }
    if (printed.insert(text).second) fmt::print("{}", text);
  }
}

void print_plan(const std::vector<experiment::Trial>& trials, std::size_t planned,
                const std::vector<experiment::ModelDescription>& models, const std::filesystem::path& folder,
                const experiment::Experiment& experiment, bool two, bool at_most) {
  for (const auto& model : models) {
    fmt::print("{}: {} blocks, input of a batch of {}: {} bytes\n", model.model, model.block_count(), model.batch,
               model.input_bytes);
  }
  for (std::size_t i = 0; i < trials.size(); ++i)
    fmt::print("{:4}  {}  {}{}\n", i + 1, trials[i].id(), trials[i].label(), axes_of(trials[i], experiment));
  print_schedules(trials);
  const auto file = folder / record::kRecordsFileName;
  fmt::print("{}{} would be run and written to {}", at_most ? "at most " : "", record::quantity(trials.size(), "trial"),
             file.string());
  if (two) fmt::print(", each with both stage programs");
  if (planned > trials.size()) fmt::print("; {} of {} are there already", planned - trials.size(), planned);
  fmt::print("\n");
}

/// Prints what a person should know before believing the numbers, if there is anything.
void print_findings(const run::SweepCounts& counts) {
  const auto note = [](int count, const char* noun, const char* what) {
    if (count > 0) fmt::print("note: {}: {}\n", record::quantity(static_cast<std::size_t>(count), noun), what);
  };
  note(counts.repeated, "measurement", "made again, for a slow window of this machine");
  note(counts.disturbed, "trial", "disturbed by something else on this machine, and counted all the same");
  note(counts.settled_late, "trial", "still warming up when measuring began; the first batches were dropped too");
  note(counts.with_outliers, "trial", "with batches that took far longer than the others (flagged, not removed)");
  note(counts.slowed_down, "trial",
       "in which a stage became slower and stayed so (paretopipe report and explain say which; flagged, not removed)");
  note(counts.saturated, "trial",
       "saturated: images arrived faster than the pipeline completes them, so that the latency in the Server phase "
       "says how long the phase was");
  note(counts.without_rate, "trial",
       "the latency bound is not kept even at the lowest rate that was tried, a sixteenth of the throughput");
}

void print_outcome(const run::AdaptiveOutcome& outcome, const experiment::Repeat& repeat) {
  fmt::print("{} measured to within {:g} %, {} dominated and left early, {} undecided; {} of at most {} trials run\n",
             record::quantity(static_cast<std::size_t>(outcome.settled), "split"), 100 * repeat.precision,
             outcome.dominated, outcome.open, outcome.trials, outcome.planned);
}

ExitCode conclude(const run::SweepCounts& counts, int ok_before, const SweepSides& sides, const SweepOptions& options) {
  const int ok = counts.ok + ok_before;
  const auto file = sides.file();
  fmt::print("{} of {} ok, {} failed; records in {}\n", ok,
             record::quantity(static_cast<std::size_t>(ok + counts.failed), "trial"), counts.failed, file.string());
  const auto folder = file.parent_path().string();
  if (is_part(options)) {
    fmt::print("Next, when all {} shards are measured: paretopipe merge THEIR_FOLDERS --out FOLDER\n",
               options.shard.count);
  } else if (ok > 0 && sides.two()) {
    fmt::print("Next: paretopipe compare {} {}\n", word_of_shell(sides.base_folder().string()), word_of_shell(folder));
  } else if (ok > 0) {
    fmt::print("Next: paretopipe frontier {}\n", word_of_shell(folder));
  }
  const bool no_rate = counts.without_rate > 0 && counts.without_rate == counts.ok;
  return counts.failed == 0 && !no_rate ? ExitCode::success : ExitCode::negative;
}

/// Devices that compute on one CPU take turns, unlike a deployment on separate devices.
void warn_of_shared_cpus(const experiment::Experiment& experiment) {
  std::map<int, int> taken;  // which device takes a CPU
  for (int stage = 0; stage < experiment.stages; ++stage) {
    if (experiment.cpus[static_cast<std::size_t>(stage)].empty()) continue;  // of another machine
    const int device = experiment::device_of(experiment.placement, stage);
    for (const int cpu : host::parse_cpu_list(experiment.cpus[static_cast<std::size_t>(stage)])) {
      if (taken.emplace(cpu, device).first->second == device) continue;
      print_notice("warning: CPU {} computes for more than one stage, so throughput is less than that of {} devices\n",
                   cpu, experiment::device_count(experiment.placement, experiment.stages));
      return;
    }
  }
}

/// With data parallelism as many batches are in flight as in the pipelines that it is compared with. Replicas that
/// train do not depend on that.
void warn_of_idle_devices(const experiment::Experiment& experiment) {
  if (experiment.task == experiment::Task::train || !experiment::has_offline(experiment.phases)) return;
  const auto& baselines = experiment.baselines;
  if (std::find(baselines.begin(), baselines.end(), "data-parallel") == baselines.end()) return;
  for (const int depth : experiment.depth) {
    if (depth >= experiment.stages) continue;
    print_notice(
        "warning: with {} batches in flight no more than {} of the baseline data-parallel's {} devices work at a "
        "time; --depth {} keeps all busy\n",
        depth, depth, experiment.stages, 2 * experiment.stages);
    return;
  }
}

/// If all batches are in flight at once, they come back in one bunch, whose rate is not a pipeline's.
void warn_of_short_phases(const experiment::Experiment& experiment) {
  if (!experiment::has_offline(experiment.phases) || experiment.task == experiment::Task::train) return;
  const int batches = experiment.warmup + experiment.batches;
  for (const int depth : experiment.depth) {
    if (batches > depth) continue;
    print_notice(
        "warning: a phase has {} batches, and all of them are in flight at once (depth {}), so that throughput says "
        "nothing of a pipeline that runs on; --batches {} or more does\n",
        batches, depth, 4 * depth);
    return;
  }
}

/// The findings of a sweep that decides for itself what to measure.
struct Decided {
  std::optional<run::AdaptiveOutcome> adaptive{};
  std::optional<run::GuidedOutcome> guided{};
};

Decided measure(const experiment::Experiment& experiment, const std::vector<experiment::Trial>& plan,
                const std::vector<record::TrialRecord>& known, const SweepGuide& guide, run::Sweep& sweep) {
  if (experiment.repeat.adaptive) {
    return {.adaptive = run::run_adaptive_sweep(plan, known, sweep, experiment.repeat)};
  }
  if (guide.wanted()) {
    return {.guided = run::run_guided_sweep(plan, known, sweep, guide.guidance(plan))};
  }
  for (const auto& trial : run::remaining_trials(plan, known)) sweep.run(trial);
  return {};
}

void print_interruption(bool resumed, const run::SweepCounts& counts, const std::filesystem::path& records) {
  if (!resumed && counts.ok + counts.failed + counts.repeated == 0) {
    print_notice("paretopipe: interrupted before anything was measured\n");
  } else {
    print_notice("paretopipe: interrupted; what was measured is in {}, and --resume continues\n", records.string());
  }
}

/// The sweep itself will not begin with them.
void warn_of_records(const std::filesystem::path& file, const SweepOptions& options) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(file, unknown);
  if (options.resume || unknown || size == 0) return;
  print_notice("warning: {} has records already; the sweep needs --resume, or another folder (--out)\n", file.string());
}

ExitCode run_sweep_command(const SweepOptions& options) {
  const auto experiment = experiment_of(options);
  check_shard(options, experiment);
  warn_of_shared_cpus(experiment);
  warn_of_idle_devices(experiment);
  warn_of_short_phases(experiment);
  const auto folder = results_folder(options, experiment);
  const auto inputs = run::find_inputs(experiment);
  if (!inputs.warning.empty()) print_notice("warning: {}\n", inputs.warning);
  const launch::InterruptGuard interrupt;
  SweepSides sides(options, experiment, executor_options(options, experiment, inputs, interrupt), folder);
  const auto [models, whole_plan] = run::prepare_sweep(experiment, inputs, sides.own(), sides.other());
  const auto plan = experiment::trials_of(options.shard, whole_plan);
  if (plan.empty()) {
    fmt::print("shard {} has no trials: the plan has fewer configurations than shards\n", to_string(options.shard));
    return ExitCode::success;
  }
  const SweepGuide guide(options, experiment, sides.own(), folder);
  guide.check(plan);
  const bool not_all = experiment.repeat.adaptive || guide.wanted();
  if (options.dry_run) {
    warn_of_records(sides.file(), options);
    print_plan(run::remaining_trials(plan, sides.known(options.resume)), plan.size(), models, folder, experiment,
               sides.two(), not_all);
    return ExitCode::success;
  }

  // Only now, so that an invalid request leaves no folder behind.
  sides.open(options.resume);
  const auto known = sides.known(options.resume);
  const auto trials = run::remaining_trials(plan, known);
  const auto done_before = sides.count() * (plan.size() - trials.size());
  Progress progress(sides.count() * trials.size(), done_before, not_all);
  sides.expect(trials);
  run::Sweep sweep(sides.for_sweep(), progress.observer(), trials.size(), {.per_trial = experiment.repeat_slow});
  Decided decided;
  try {
    decided = measure(experiment, plan, known, guide, sweep);
  } catch (const Interrupted&) {
    progress.finish();
    print_interruption(!known.empty(), sweep.counts(), sides.file());
    return ExitCode::interrupted;
  }
  progress.finish();
  print_findings(sweep.counts());
  if (decided.adaptive) print_outcome(*decided.adaptive, experiment.repeat);
  if (decided.guided) print_guided(*decided.guided, folder);
  return conclude(sweep.counts(), static_cast<int>(done_before), sides, options);
}

}  // namespace

void add_sweep(CLI::App& app, Command& chosen, std::vector<std::string> command_line) {
  auto options = std::make_shared<SweepOptions>();
  options->command_line = std::move(command_line);
  auto* command = app.add_subcommand("sweep", "Measure every split point of models over a real pipeline");
  add_sweep_options(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return run_sweep_command(*options); }; });
}

}  // namespace paretopipe::cli
