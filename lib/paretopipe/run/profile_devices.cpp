#include <paretopipe/experiment/codecs.hpp>
#include <paretopipe/host/cpu_set.hpp>
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

/// The codecs that encode; `none` takes no time.
std::vector<codec::Codec> codecs_of(const experiment::Experiment& experiment) {
  std::vector<codec::Codec> codecs;
  for (const auto& name : experiment.codecs) {
    if (experiment::codec_count(name) > 1) {
      throw UsageError(
          fmt::format("profile {}: a profile has each codec alone, at every cut; name them one by one, "
                      "such as --codec none,uniform8",
                      name));
    }
    const auto codec = codec::parse(name);
    if (codec.encodes()) codecs.push_back(codec);
  }
  return codecs;
}

void check_size(const experiment::ModelDescription& model) {
  if (model.block_count() <= predict::kMostBlocks) return;
  throw UsageError(
      fmt::format("{} has {} blocks, and their runs cannot be timed in sensible time beyond {}; for an archive, name "
                  "fewer cuts with --cuts",
                  model.model, model.block_count(), predict::kMostBlocks));
}

}  // namespace

predict::Profile profile_devices(const experiment::Experiment& experiment, const SweepInputs& inputs, int rounds,
                                 PipelineExecutor& executor, const std::function<void(const std::string&)>& progress) {
  check_axes(experiment, inputs);
  const auto codecs = codecs_of(experiment);
  const auto trial =
      experiment::uncut_trial(experiment, inputs.sources.front(), experiment::Shaping::none, inputs.plan);
  predict::Profile profile;
  profile.model = executor.describe(trial);
  check_size(profile.model);
  profile.mode = trial.compute;
  profile.num_classes = trial.num_classes;
  profile.seed = trial.seed;
  profile.weights_sha256 = trial.weights_sha256;
  profile.devices = executor.profile(trial, profile.model, codecs, rounds, progress);
  if (progress) progress("the links");
  profile.links = executor.probe_links();
  const auto provenance = executor.provenance_now();
  profile.made_at = provenance.started_at;
  profile.release = provenance.version;
  profile.stage_program_sha256 = provenance.stage_program_sha256;
  return profile;
}

namespace {

bool is_of_device(const predict::ProfiledDevice& device, const experiment::Trial& wanted, int stage) {
  const auto emulated = wanted.device_profile(stage);
  const auto place = static_cast<std::size_t>(stage);
  const auto same_cpus = [&](const std::string& cpus) {
    return cpus.empty() || device.cpus.empty() || host::parse_cpu_list(cpus) == host::parse_cpu_list(device.cpus);
  };
  const bool same_processor =
      device.compute.value("device", "cpu") == experiment::compute_device_of(wanted.compute_devices, stage);
  return same_processor && device.profile == (emulated.emulated() ? emulated.name : "") &&
         device.cpu_quota == emulated.cpu_quota && (wanted.on.empty() || device.name == wanted.on[place]) &&
         (place >= wanted.cpus.size() || same_cpus(wanted.cpus[place])) && device.has_threads(wanted.threads_of(stage));
}

}  // namespace

std::string why_outdated(const predict::Profile& profile, const std::vector<experiment::Trial>& plan,
                         const record::Provenance& now) {
  const auto& wanted = plan.front();
  if (profile.model.model != wanted.model || profile.model.archive != wanted.archive ||
      profile.model.batch != wanted.batch || profile.model.block_count() != wanted.block_count ||
      profile.mode != wanted.compute || profile.num_classes != wanted.num_classes ||
      profile.weights_sha256 != wanted.weights_sha256) {
    return "it is of another model, batch or mode";
  }
  const auto devices = static_cast<int>(profile.devices.size());
  if (devices != wanted.stage_count()) return fmt::format("it is of {} devices", devices);
  for (int stage = 0; stage < devices; ++stage) {
    const auto& device = profile.devices[static_cast<std::size_t>(stage)];
    if (!is_of_device(device, wanted, stage)) return fmt::format("its device {} is another one", device.name);
  }
  const auto codecs = profile.codecs();
  for (const auto& trial : plan) {
    if (std::find(codecs.begin(), codecs.end(), trial.codec) == codecs.end()) {
      return fmt::format("it was made without the codec {}", trial.codec);
    }
  }
  if (profile.stage_program_sha256 != now.stage_program_sha256) return "it was made by another stage program";
  const auto here = host::read_host_context();
  const auto& there = profile.devices.front().host;  // the first device is where results come back
  if (there.hostname != here.hostname || there.cpu_model != here.cpu_model || there.kernel != here.kernel) {
    return fmt::format("it was made on {} ({}, {})", there.hostname, there.cpu_model, there.kernel);
  }
  return "";
}

}  // namespace paretopipe::run
