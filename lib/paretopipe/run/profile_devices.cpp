#include <paretopipe/core/units.hpp>
#include <paretopipe/run/profile_devices.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

void check_axes(const experiment::Experiment& experiment, const SweepInputs& inputs) {
  if (inputs.sources.size() != 1 || experiment.batch.size() > 1 || experiment.threads_per_stage.size() > 1) {
    throw UsageError(
        "a profile is of one model, at one batch and one number of threads; make a file for each, with the same flags");
  }
  const auto& networks = inputs.networks.profiles;
  if (std::any_of(networks.begin(), networks.end(), [](const auto& network) { return network.shaped(); })) {
    throw UsageError("a profile is of devices; leave --network out here, and give it to `paretopipe predict`");
  }
}

void check_size(const experiment::ModelDescription& model, const experiment::UncutTrial& trial) {
  if (model.block_count() > predict::kMostProfiledBlocks) {
    throw UsageError(fmt::format(
        "{} has {} blocks, and every run of them cannot be timed in sensible time beyond {}; for an archive, name "
        "fewer cuts with --cuts",
        model.model, model.block_count(), predict::kMostProfiledBlocks));
  }
  const auto weights = model.parameter_bytes({0, model.block_count()});
  for (int stage = 0; stage < static_cast<int>(trial.cpus.size()); ++stage) {
    const auto profile = trial.device_profile(stage);
    if (!profile.memory_limit_bytes || weights < *profile.memory_limit_bytes) continue;
    throw UsageError(fmt::format(
        "{} cannot be profiled as a whole on {}: its weights take {} of the {} there; profile a device without the "
        "limit, and give the limit to `paretopipe predict --memory`",
        model.model, profile.name, format_bytes(static_cast<double>(weights)),
        format_bytes(static_cast<double>(*profile.memory_limit_bytes))));
  }
}

}  // namespace

predict::Profile profile_devices(const experiment::Experiment& experiment, const SweepInputs& inputs, int rounds,
                                 PipelineExecutor& executor, const std::function<void(const std::string&)>& progress) {
  check_axes(experiment, inputs);
  const auto trial =
      experiment::uncut_trial(experiment, inputs.sources.front(), experiment::Shaping::none, inputs.plan);
  predict::Profile profile;
  profile.model = executor.describe(trial);
  check_size(profile.model, trial);
  profile.mode = trial.compute;
  profile.num_classes = trial.num_classes;
  profile.seed = trial.seed;
  profile.weights_sha256 = trial.weights_sha256;
  profile.devices = executor.profile(trial, profile.model, rounds, progress);
  if (progress) progress("the links");
  profile.links = executor.probe_links();
  const auto provenance = executor.provenance_now();
  profile.made_at = provenance.started_at;
  profile.release = provenance.version;
  profile.stage_program_sha256 = provenance.stage_program_sha256;
  return profile;
}

}  // namespace paretopipe::run
