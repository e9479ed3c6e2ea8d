#include "sweep_setup.hpp"

#include <paretopipe/core/notice.hpp>
#include <paretopipe/core/sha256.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/launch/stage_program.hpp>

#include <filesystem>

#include <unistd.h>

#include <fmt/format.h>

namespace paretopipe::cli {
namespace {

std::vector<config::ModelSource> find_sources(const config::Experiment& experiment) {
  std::vector<config::ModelSource> sources;
  for (const auto& model : experiment.models) {
    auto source = config::find_source(model, experiment.input, experiment.cuts, experiment.max_crossing);
    for (const auto& other : sources) {
      if (!source.archive || source.archive != other.archive) continue;
      throw UsageError(fmt::format("{} and {} are the same file; name it once", other.file.string(), model));
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace

plan::PlanInputs Inputs::plan_inputs() const {
  return {.weights_sha256 = weights_sha256, .block_times = {}, .data_identity = data.identity, .devices = devices};
}

Inputs find_inputs(const config::Experiment& experiment) {
  Inputs inputs;
  inputs.sources = find_sources(experiment);
  inputs.devices = config::load_device_profiles(experiment.device_profiles);
  inputs.data = config::find_data(experiment.data, experiment.labels);
  if (!experiment.weights.empty()) inputs.weights_sha256 = sha256_of_file(experiment.weights);
  return inputs;
}

std::vector<plan::Trial> trial_settings(const config::Experiment& experiment,
                                        const std::vector<config::ModelSource>& sources, config::Shaping shaping,
                                        const plan::PlanInputs& inputs) {
  plan::Trial trial;
  trial.num_classes = experiment.num_classes;
  trial.batch = experiment.batch.first();
  trial.seed = experiment.seed;
  trial.data = config::name_of_data(experiment.data);
  trial.data_identity = inputs.data_identity;
  trial.threads_per_stage = experiment.threads_per_stage.first();
  trial.cpus = experiment.cpus;
  trial.tuning = experiment.tuning;
  trial.shaping = shaping;
  trial.weights_sha256 = inputs.weights_sha256;
  trial.placement = config::simplified(experiment.placement);
  trial.devices = inputs.devices;
  trial.compute_devices = config::compute_devices(experiment.compute_devices, experiment.stages);
  std::vector<plan::Trial> settings;
  for (const auto& source : sources) {
    trial.model = source.name;
    trial.archive = source.archive;
    trial.compute = config::mode_for(experiment.compute, source.name);
    settings.push_back(trial);
  }
  return settings;
}

run::ExecutorOptions executor_options(const SweepOptions& options, const config::Experiment& experiment,
                                      const Inputs& inputs, const launch::InterruptGuard& interrupt) {
  run::ExecutorOptions executor;
  executor.stage_program = launch::find_stage_program();
  executor.timeout_s = experiment.trial_timeout_s;
  executor.interrupt_descriptor = interrupt.descriptor();
  executor.watching.notice = [](const std::string& sentence) {
    // On a terminal, the unfinished line of the sweep's progress is there.
    print_notice("{}paretopipe: {}\n", ::isatty(STDERR_FILENO) != 0 ? "\n" : "", sentence);
  };
  if (!experiment.weights.empty()) executor.weights = std::filesystem::absolute(experiment.weights).string();
  executor.data = inputs.data;
  for (const auto& source : inputs.sources) {
    if (source.archive) executor.archives[source.archive->sha256] = source.file;
  }
  executor.provenance = {std::string(version()), std::string(git_state()), options.command_line, {}};
  return executor;
}

}  // namespace paretopipe::cli
