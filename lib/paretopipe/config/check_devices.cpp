#include <paretopipe/config/check_devices.hpp>
#include <paretopipe/config/compute_device.hpp>
#include <paretopipe/config/device_profile.hpp>
#include <paretopipe/config/model_name.hpp>
#include <paretopipe/config/network_profile.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/utf8.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::config {
namespace {

void check_profiles(const Experiment& experiment) {
  const auto& names = experiment.device_profiles;
  const auto devices = static_cast<std::size_t>(device_count(experiment.placement, experiment.stages));
  if (names.empty()) return;
  if (names.size() != devices) {
    throw UsageError(fmt::format(
        "experiment.device_profiles holds {}; it must hold one for each of the {} devices (\"none\" for one "
        "without), or none at all",
        names.size(), devices));
  }
  bool all_say_threads = true;
  for (const auto& name : names) {
    if (!is_utf8(name)) throw UsageError("experiment.device_profiles is not valid UTF-8");
    all_say_threads = load_device_profile(name).threads.has_value() && all_say_threads;
  }
  // Every value would measure the same thing again as another trial.
  if (all_say_threads && experiment.threads_per_stage != Experiment{}.threads_per_stage) {
    throw UsageError(
        "experiment.threads_per_stage is for devices whose profile says nothing of threads, and all of "
        "device_profiles do; leave it out, or \"threads\" out of a profile");
  }
}

void check_shared_cpus(const Experiment& experiment) {
  if (experiment.cpus.size() != static_cast<std::size_t>(experiment.stages)) return;  // refused elsewhere
  for (int stage = 0; stage < experiment.stages; ++stage) {
    for (int other = 0; other < stage; ++other) {
      const auto& left = experiment.cpus[static_cast<std::size_t>(other)];
      const auto& right = experiment.cpus[static_cast<std::size_t>(stage)];
      if (way_between(experiment.placement, other, stage) != Way::within || left == right) continue;
      throw UsageError(
          fmt::format("experiment.cpus gives stage {} the CPUs {} and stage {} the CPUs {}, but placement puts both on "
                      "device {}, whose CPUs they share; give them the same list",
                      other, left, stage, right, device_of(experiment.placement, stage)));
    }
  }
}

void check_links(const Experiment& experiment) {
  if (device_count(experiment.placement, experiment.stages) > 1) return;
  for (const auto& network : experiment.networks) {
    if (!load_network_profile(network).shaped()) continue;
    throw UsageError(
        fmt::format("experiment.placement puts all stages on one device, so that nothing crosses the network {}; leave "
                    "one of them out",
                    network));
  }
}

void check_compute_devices(const Experiment& experiment) {
  try {
    if (compute_devices(experiment.compute_devices, experiment.stages).empty()) return;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("experiment.compute_devices: {}", error.what()));
  }
  for (const auto& model : experiment.models) {
    if (!is_synthetic(model)) continue;
    throw UsageError(
        fmt::format("experiment.compute_devices names a GPU, and {} computes nothing; leave one of them out", model));
  }
}

}  // namespace

void check_devices(const Experiment& experiment) {
  check_placement(experiment.placement, experiment.stages);
  check_profiles(experiment);
  check_shared_cpus(experiment);
  check_links(experiment);
  check_compute_devices(experiment);
}

}  // namespace paretopipe::config
