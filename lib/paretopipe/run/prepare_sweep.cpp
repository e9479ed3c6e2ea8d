#include <paretopipe/core/hash.hpp>
#include <paretopipe/experiment/partitions.hpp>
#include <paretopipe/run/prepare_sweep.hpp>
#include <paretopipe/shaping/choose_shaping.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

std::vector<experiment::ModelSource> find_sources(const experiment::Experiment& experiment) {
  std::vector<experiment::ModelSource> sources;
  for (const auto& model : experiment.models) {
    auto source = experiment::find_source(model, experiment.input, experiment.cuts, experiment.max_crossing);
    for (const auto& other : sources) {
      if (!source.archive || source.archive != other.archive) continue;
      throw UsageError(fmt::format("{} and {} are the same file; name it once", other.file.string(), model));
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

/// Splits of two stage programs can be compared only if both cut the model alike.
void check_cuts(const experiment::UncutTrial& trial, const experiment::ModelDescription& model,
                const PipelineExecutor& executor, PipelineExecutor& other) {
  int blocks = 0;
  try {
    blocks = other.describe(trial).block_count();
  } catch (const StageError& error) {
    throw Error(error.code(), fmt::format("--against {}: {}", other.program().string(), error.what()));
  }
  if (blocks == model.block_count()) return;
  throw UsageError(fmt::format("{} cuts {} into {} blocks and {} into {}: their splits cannot be compared",
                               executor.program().string(), model.model, model.block_count(), other.program().string(),
                               blocks));
}

/// An interface carries one lease, and a lease has one peer.
bool could_lease(const experiment::Experiment& experiment) {
  return experiment.on.size() == 2 && experiment.on.front() != experiment.on.back();
}

void check_leases(const experiment::Experiment& experiment) {
  if (could_lease(experiment)) return;
  throw UsageError(
      "--shaping netem shapes the interfaces of two devices with a stage each; with more stages leave it out, so that "
      "relays on the senders' machines emulate the network");
}

bool any_shaped(const std::vector<experiment::NetworkProfile>& profiles) {
  return std::any_of(profiles.begin(), profiles.end(), [](const auto& profile) { return profile.shaped(); });
}

/// Between devices, relays or leases shape the real network.
void choose_between_devices(const experiment::Experiment& experiment, SweepInputs& inputs) {
  auto& [profiles, kind] = inputs.networks;
  const auto asked = experiment::parse_shaping(experiment.shaping);
  if (asked == experiment::Shaping::netem) check_leases(experiment);
  inputs.tries_leases = !asked && any_shaped(profiles) && could_lease(experiment);
  if (asked == experiment::Shaping::netem || inputs.tries_leases) {
    kind = experiment::Shaping::netem;
  } else if (asked == experiment::Shaping::emulated || any_shaped(profiles)) {
    try {
      kind = shaping::choose_shaping(experiment::Shaping::emulated, profiles).kind;
    } catch (const UsageError& error) {
      throw UsageError(
          fmt::format("{} Between two devices, --shaping netem has their kernels do it, which takes root "
                      "there.",
                      error.what()));
    }
  }
}

/// The kernels of the devices shape their links if they can, because they do it better than relays.
experiment::Networks settle(const experiment::Experiment& experiment, const SweepInputs& inputs,
                            PipelineExecutor& executor) {
  auto networks = inputs.networks;
  if (!inputs.tries_leases) return networks;
  const auto obstacle = executor.obstacle_to_leases(
      experiment::uncut_trial(experiment, inputs.sources.front(), networks.shaping, inputs.plan), networks.profiles);
  if (!obstacle) return networks;
  try {
    networks.shaping = shaping::choose_shaping(experiment::Shaping::emulated, networks.profiles).kind;
  } catch (const UsageError& error) {
    throw EnvironmentError(
        fmt::format("the devices cannot shape their links as asked: {}. Relays: {}", *obstacle, error.what()));
  }
  executor.notice(fmt::format("relays emulate the network between the devices: {}", *obstacle));
  return networks;
}

/// A limit applies to a cgroup on this machine. Relays would be in it with their stage.
void check_limits(const experiment::Experiment& experiment, const SweepInputs& inputs) {
  for (std::size_t stage = 0; stage < inputs.plan.on.size() && !inputs.plan.devices.empty(); ++stage) {
    const auto device = experiment::device_of(experiment.placement, static_cast<int>(stage));
    const auto& profile = inputs.plan.devices.at(static_cast<std::size_t>(device));
    if (!profile.limited()) continue;
    if (!inputs.plan.on[stage].local()) {
      throw UsageError(
          fmt::format("the device profile {} limits processes of this machine, and stage {} runs on {}; give {} a "
                      "profile without \"cpu_quota\" and \"memory_limit\", or none",
                      profile.name, stage, inputs.plan.on[stage].name, inputs.plan.on[stage].name));
    }
    if (inputs.networks.shaping == experiment::Shaping::none) continue;
    throw UsageError(fmt::format(
        "the device profile {} limits processes of this machine, and the relays of --network would be among "
        "them; leave out one of the two",
        profile.name));
  }
}

}  // namespace

SweepInputs find_inputs(const experiment::Experiment& experiment) {
  SweepInputs inputs;
  inputs.sources = find_sources(experiment);
  inputs.plan.devices = experiment::load_device_profiles(experiment.device_profiles);
  inputs.plan.on = experiment::find_devices(experiment.on, experiment.devices_file);
  inputs.data = experiment::find_data(experiment.data, experiment.labels);
  inputs.plan.data_identity = inputs.data.identity;
  if (!experiment.weights.empty()) inputs.plan.weights_sha256 = sha256_of_file(experiment.weights);
  auto& profiles = inputs.networks.profiles;
  profiles.clear();
  for (const auto& name : experiment.networks) {
    auto profile = experiment::load_network_profile(name);
    if (std::find(profiles.begin(), profiles.end(), profile) != profiles.end()) {
      throw UsageError(fmt::format("the network {} was named before, in other words; name it once", name));
    }
    profiles.push_back(std::move(profile));
  }
  if (!inputs.plan.on.empty()) {
    choose_between_devices(experiment, inputs);
    check_limits(experiment, inputs);
    return inputs;
  }
  auto choice = shaping::choose_shaping(experiment::parse_shaping(experiment.shaping), profiles);
  inputs.networks.shaping = choice.kind;
  inputs.warning = std::move(choice.warning);
  return inputs;
}

PreparedSweep prepare_sweep(const experiment::Experiment& experiment, const SweepInputs& inputs,
                            PipelineExecutor& executor, PipelineExecutor* other) {
  PreparedSweep sweep;
  const auto networks = settle(experiment, inputs, executor);
  std::vector<experiment::UncutTrial> uncut;
  for (const auto& source : inputs.sources) {
    uncut.push_back(experiment::uncut_trial(experiment, source, networks.shaping, inputs.plan));
    sweep.models.push_back(executor.describe(uncut.back()));
  }
  if (other != nullptr) {
    executor.make_room();
    for (std::size_t i = 0; i < uncut.size(); ++i) check_cuts(uncut[i], sweep.models[i], executor, *other);
    other->make_room();
  }
  auto known = inputs.plan;
  for (std::size_t i = 0; experiment::wants_equal_time(experiment) && i < uncut.size(); ++i) {
    known.equal_time.push_back(executor.equal_time(uncut[i], sweep.models[i]));
  }
  sweep.trials = experiment::plan_trials(experiment, sweep.models, networks, known);
  return sweep;
}

}  // namespace paretopipe::run
