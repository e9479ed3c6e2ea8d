#include "sweep.hpp"

#include <paretopipe/config/experiment.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/host/cpu_set.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/launch/stage_program.hpp>
#include <paretopipe/plan/plan.hpp>
#include <paretopipe/record/store.hpp>
#include <paretopipe/run/pipeline_executor.hpp>
#include <paretopipe/run/sweep.hpp>
#include <paretopipe/shaping/choose_shaping.hpp>

#include <filesystem>
#include <optional>

#include <CLI/CLI.hpp>

#include "progress.hpp"

namespace paretopipe::cli {
namespace {

constexpr int kStages = 2;

/// What the command line said; what it did not say comes from the experiment file, then from the defaults.
struct Options {
  std::filesystem::path experiment_file;
  std::vector<std::string> models;
  std::optional<std::string> splits;
  std::optional<int> num_classes;
  std::optional<int> batch;
  std::optional<int> batches;
  std::optional<int> warmup;
  std::optional<int> repeat;
  std::optional<int> depth;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> data;
  std::optional<int> threads_per_stage;
  std::vector<std::string> cpus;
  std::vector<std::string> networks;
  std::optional<std::string> shaping;
  std::optional<int> repeat_slow;
  std::optional<int> trial_timeout_s;
  bool no_flush_denormals = false;
  bool no_malloc_tuning = false;
  bool active_openmp_wait = false;
  std::filesystem::path out;
  bool resume = false;
  bool dry_run = false;
  std::vector<std::string> command_line;
};

template <class T>
void override_with(T& value, const std::optional<T>& flag) {
  if (flag) value = *flag;
}

config::Experiment experiment_of(const Options& options) {
  auto experiment =
      options.experiment_file.empty() ? config::Experiment{} : config::load_experiment(options.experiment_file);
  if (!options.models.empty()) experiment.models = options.models;
  if (options.splits) experiment.splits = config::parse_splits(*options.splits);
  override_with(experiment.num_classes, options.num_classes);
  override_with(experiment.batch, options.batch);
  override_with(experiment.batches, options.batches);
  override_with(experiment.warmup, options.warmup);
  override_with(experiment.repeat, options.repeat);
  override_with(experiment.depth, options.depth);
  override_with(experiment.seed, options.seed);
  override_with(experiment.data, options.data);
  override_with(experiment.threads_per_stage, options.threads_per_stage);
  override_with(experiment.repeat_slow, options.repeat_slow);
  override_with(experiment.trial_timeout_s, options.trial_timeout_s);
  if (!options.cpus.empty()) experiment.cpus = options.cpus;
  if (!options.networks.empty()) experiment.networks = options.networks;
  override_with(experiment.shaping, options.shaping);
  if (options.no_flush_denormals) experiment.tuning.flush_denormals = false;
  if (options.no_malloc_tuning) experiment.tuning.tune_malloc = false;
  if (options.active_openmp_wait) experiment.tuning.passive_openmp_wait = false;

  if (experiment.cpus.empty()) {
    for (const auto& set : host::deal_cpus(host::current_affinity(), kStages))
      experiment.cpus.push_back(host::to_string(set));
  }
  config::validate(experiment);
  return experiment;
}

std::filesystem::path results_folder(const Options& options, const config::Experiment& experiment) {
  if (!options.out.empty()) return options.out;
  if (!options.experiment_file.empty()) return std::filesystem::path("results") / options.experiment_file.stem();
  const auto& model = experiment.models.front();
  return std::filesystem::path("results") / model.substr(0, model.find(':'));
}

/// The profiles, and the kind of link that carries them here; says so where it is not the one that one would rather
/// have.
plan::Networks networks_of(const config::Experiment& experiment) {
  plan::Networks networks;
  networks.profiles.clear();
  for (const auto& name : experiment.networks) networks.profiles.push_back(config::load_network_profile(name));
  const auto choice = shaping::choose_shaping(config::parse_shaping(experiment.shaping), networks.profiles);
  if (!choice.warning.empty()) fmt::print(stderr, "warning: {}\n", choice.warning);
  networks.shaping = choice.kind;
  return networks;
}

/// A trial with the settings that a model's description depends on, before there is a plan.
plan::Trial trial_settings(const config::Experiment& experiment, const std::string& model, config::Shaping shaping) {
  plan::Trial trial;
  trial.model = model;
  trial.num_classes = experiment.num_classes;
  trial.batch = experiment.batch;
  trial.seed = experiment.seed;
  trial.data = experiment.data;
  trial.threads_per_stage = experiment.threads_per_stage;
  trial.cpus = experiment.cpus;
  trial.tuning = experiment.tuning;
  trial.shaping = shaping;
  return trial;
}

std::vector<config::ModelDescription> describe_models(const config::Experiment& experiment, config::Shaping shaping,
                                                      run::PipelineExecutor& executor) {
  std::vector<config::ModelDescription> models;
  for (const auto& model : experiment.models)
    models.push_back(executor.describe(trial_settings(experiment, model, shaping)));
  return models;
}

void print_plan(const std::vector<plan::Trial>& trials, const std::vector<config::ModelDescription>& models,
                const std::filesystem::path& folder) {
  for (const auto& model : models) {
    fmt::print("{}: {} blocks, input {} bytes\n", model.model, model.block_count(), model.input_bytes);
  }
  for (std::size_t i = 0; i < trials.size(); ++i)
    fmt::print("{:4}  {}  {}\n", i + 1, trials[i].id(), trials[i].label());
  fmt::print("{} trials would be run and written to {}\n", trials.size(), (folder / "records.jsonl").string());
}

run::ExecutorOptions executor_options(const Options& options, const config::Experiment& experiment,
                                      const launch::InterruptGuard& interrupt) {
  run::ExecutorOptions executor;
  executor.stage_program = launch::find_stage_program();
  executor.timeout_s = experiment.trial_timeout_s;
  executor.interrupt_descriptor = interrupt.descriptor();
  executor.provenance = {std::string(version()), std::string(git_state()), options.command_line, {}};
  return executor;
}

/// What a person should know before believing the numbers; nothing where there is nothing to say.
void print_findings(const run::SweepCounts& counts) {
  const auto note = [](int count, const char* what) {
    if (count > 0) fmt::print("note: {} {}\n", count, what);
  };
  note(counts.repeated, "measurements fell into a slow window of this machine and were made again");
  note(counts.disturbed,
       "trials were disturbed by something else on this machine, again and again, and count all the same");
  note(counts.settled_late, "trials were still warming up when measuring began; their first batches were dropped too");
  note(counts.with_outliers,
       "trials hold batches that took far longer than the others (flagged in the records, not removed)");
}

ExitCode run_sweep_command(const Options& options) {
  const auto experiment = experiment_of(options);
  const auto folder = results_folder(options, experiment);
  const auto networks = networks_of(experiment);
  const launch::InterruptGuard interrupt;
  run::PipelineExecutor executor(executor_options(options, experiment, interrupt));
  const auto models = describe_models(experiment, networks.shaping, executor);
  auto trials = plan::plan_trials(experiment, models, networks);
  if (options.dry_run) {
    print_plan(trials, models, folder);
    return ExitCode::success;
  }

  // Only now, so that a wrong request leaves no folder behind.
  record::RecordStore store(folder, options.resume);
  const auto planned = trials.size();
  if (options.resume) trials = run::remaining_trials(trials, record::read_records(store.file()).records);
  const auto done_before = planned - trials.size();
  Progress progress(trials.size(), done_before);
  executor.expect(trials);
  run::SweepCounts counts;
  try {
    counts = run::run_sweep(trials, executor, [&](const record::TrialRecord& record) { store.append(record); },
                            progress.observer(), {.per_trial = experiment.repeat_slow});
  } catch (const Interrupted&) {
    progress.finish();
    fmt::print(stderr, "paretopipe: interrupted; what was measured is in {}, and --resume continues\n",
               store.file().string());
    return ExitCode::interrupted;
  }
  progress.finish();
  print_findings(counts);
  fmt::print("{} of {} trials ok, {} failed; records in {}\nNext: paretopipe frontier {}\n",
             counts.ok + static_cast<int>(done_before), planned, counts.failed, store.file().string(), folder.string());
  return counts.failed == 0 ? ExitCode::success : ExitCode::negative;
}

void add_workload_options(CLI::App& command, Options& options) {
  const std::string group = "What is measured";
  command.add_option("experiment", options.experiment_file, "Experiment file (configs/README.md); flags win over it");
  command.add_option("--model", options.models, "Model; may be given several times (`paretopipe models` lists them)")
      ->group(group);
  command.add_option("--split", options.splits, "Split points: all, or a list such as 0,3-7,10")->group(group);
  command.add_option("--classes", options.num_classes, "Number of classes of the model's head (10)")->group(group);
  command.add_option("--data", options.data, "Input: fashion-mnist[:DIR], cifar10[:DIR] or random (fashion-mnist)")
      ->group(group);
  command.add_option("--batch", options.batch, "Images per batch (1)")->group(group);
  command.add_option("--batches", options.batches, "Measured batches in each phase (32)")->group(group);
  command.add_option("--warmup", options.warmup, "Batches run and dropped before each phase (4)")->group(group);
  command.add_option("--repeat", options.repeat, "Trials of every split (5)")->group(group);
  command
      .add_option("--repeat-slow", options.repeat_slow,
                  "How often a trial that fell into a slow window of the machine is measured again (2)")
      ->group(group);
  command.add_option("--depth", options.depth, "Batches in flight while throughput is measured (4)")->group(group);
  command.add_option("--seed", options.seed, "Seed of weights, random inputs and the order of trials (1)")
      ->group(group);
}

void add_network_options(CLI::App& command, Options& options) {
  const std::string group = "What lies between the stages";
  command
      .add_option("--network", options.networks,
                  "Network profile, by name or file; may be given several times (`paretopipe net show` lists them)")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--shaping", options.shaping,
                  "netem (the kernel, between network namespaces), emulated (a relay in userspace), none, or auto")
      ->group(group);
}

void add_stage_options(CLI::App& command, Options& options) {
  const std::string group = "How stages compute";
  command.add_option("--threads-per-stage", options.threads_per_stage, "Compute threads of each stage (1)")
      ->group(group);
  command.add_option("--cpus", options.cpus, "CPU list of a stage, e.g. 0-3; once per stage (the CPUs are dealt out)")
      ->group(group);
  command.add_flag("--no-flush-denormals", options.no_flush_denormals, "Compute with denormal numbers")->group(group);
  command.add_flag("--no-malloc-tuning", options.no_malloc_tuning, "Leave glibc's malloc thresholds alone")
      ->group(group);
  command.add_flag("--active-openmp-wait", options.active_openmp_wait, "Let idle OpenMP threads spin")->group(group);
  command
      .add_option("--trial-timeout", options.trial_timeout_s, "Seconds after which a silent stage is given up (600)")
      ->group(group);
}

}  // namespace

void add_sweep(CLI::App& app, Command& chosen, std::vector<std::string> command_line) {
  auto options = std::make_shared<Options>();
  options->command_line = std::move(command_line);
  auto* command = app.add_subcommand("sweep", "Measure every split point of models over a real pipeline");
  add_workload_options(*command, *options);
  add_network_options(*command, *options);
  add_stage_options(*command, *options);
  command->add_option("--out", options->out, "Folder of the records (results/NAME)");
  command->add_flag("--resume", options->resume, "Continue a sweep: run what has no ok record yet");
  command->add_flag("--dry-run", options->dry_run, "Print the plan and run nothing");
  command->callback([options, &chosen] { chosen = [options] { return run_sweep_command(*options); }; });
}

}  // namespace paretopipe::cli
