#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/compute_mode.hpp>
#include <paretopipe/experiment/device_profile.hpp>
#include <paretopipe/experiment/devices.hpp>
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::experiment {

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
  // Every value would measure the same again, as another trial.
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
  const auto devices = with_prefix("experiment.compute_devices: ",
                                   [&] { return compute_devices(experiment.compute_devices, experiment.stages); });
  if (devices.empty()) return;
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

namespace {

void refuse_both(const std::vector<std::string>& of_devices, const Experiment& experiment) {
  for (std::size_t device = 0; device < of_devices.size(); ++device) {
    if (of_devices[device].empty()) continue;
    throw UsageError(fmt::format(
        "the device profile {} names the CPUs {}, and so does experiment.cpus for every stage; leave one of "
        "them out",
        experiment.device_profiles[device], of_devices[device]));
  }
}

/// Stands for the CPUs of a device on another machine, which are not known here.
constexpr const char* kAllCpus = "all";

/// The CPUs that no device of this machine names; all CPUs if every one is named.
host::CpuSet left_over(const std::vector<std::string>& named, const host::CpuSet& available) {
  auto rest = available;
  for (const auto& list : named) {
    if (list.empty()) continue;
    const auto cpus = host::parse_cpu_list(list);
    std::erase_if(rest, [&](int cpu) { return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end(); });
  }
  return rest.empty() ? available : rest;
}

}  // namespace

void settle_devices(Experiment& experiment, const std::vector<Device>& on) {
  if (on.empty()) return;
  const auto again = [](const char* what) {
    throw UsageError(fmt::format(
        "experiment.on says on which device each stage runs, and experiment.{} says it again; leave one of them out",
        what));
  };
  if (on.size() < 2) {
    throw UsageError(
        fmt::format("experiment.on names one device, and a pipeline has two stages at least; name one for each, such "
                    "as --on local --on {}",
                    on.front().name));
  }
  if (experiment.stages != Experiment{}.stages && experiment.stages != static_cast<int>(on.size())) again("stages");
  if (!experiment.placement.empty()) again("placement");
  if (!experiment.compute_devices.empty()) again("compute_devices");
  if (!experiment.cpus.empty()) again("cpus");
  const bool profiled = std::ranges::any_of(on, [](const Device& device) { return !device.profile.empty(); });
  if (profiled && !experiment.device_profiles.empty()) {
    throw UsageError(
        "the devices file gives a device of experiment.on a profile, and experiment.device_profiles names profiles, "
        "too; leave one of the two out");
  }
  const bool threads_known = std::ranges::all_of(on, [](const Device& device) { return device.threads.has_value(); });
  if (threads_known && experiment.threads_per_stage != Experiment{}.threads_per_stage) {
    throw UsageError(
        "the devices file gives every device of experiment.on its threads, and experiment.threads_per_stage says "
        "others; leave one of the two out");
  }
  experiment.stages = static_cast<int>(on.size());
  std::vector<std::string> names;
  for (const auto& device : on) {
    const auto known = std::find(names.begin(), names.end(), device.name);
    experiment.placement.push_back(static_cast<int>(known - names.begin()));
    if (known == names.end()) {
      names.push_back(device.name);
      if (profiled) experiment.device_profiles.push_back(device.profile.empty() ? kNoDeviceProfile : device.profile);
    }
    experiment.compute_devices.push_back(device.compute.empty() ? "cpu" : device.compute);
  }
}

std::vector<std::string> assign_cpus(const Experiment& experiment, const std::vector<int>& available,
                                     const std::vector<Device>& on) {
  if (experiment.stages < 1) return {};  // validate() refuses it
  check_placement(experiment.placement, experiment.stages);
  std::vector<std::string> of_devices(static_cast<std::size_t>(device_count(experiment.placement, experiment.stages)));
  const auto profiles = load_device_profiles(experiment.device_profiles);
  for (std::size_t i = 0; i < profiles.size() && i < of_devices.size(); ++i) of_devices[i] = profiles[i].cpus;
  if (!experiment.cpus.empty()) {
    refuse_both(of_devices, experiment);
    return experiment.cpus;
  }
  for (std::size_t stage = 0; stage < on.size(); ++stage) {
    auto& cpus = of_devices.at(static_cast<std::size_t>(experiment.placement.at(stage)));
    if (!on[stage].cpus.empty()) cpus = on[stage].cpus;
    if (cpus.empty() && !on[stage].local()) cpus = kAllCpus;
  }
  auto of_this_machine = of_devices;
  for (std::size_t stage = 0; stage < on.size(); ++stage) {
    if (!on[stage].local()) of_this_machine.at(static_cast<std::size_t>(experiment.placement.at(stage))).clear();
  }
  const auto without = static_cast<int>(std::count(of_devices.begin(), of_devices.end(), std::string()));
  if (without > 0) {
    const auto dealt = host::deal_cpus(left_over(of_this_machine, available), without);
    auto next = dealt.begin();
    for (auto& cpus : of_devices) {
      if (cpus.empty()) cpus = host::to_string(*next++);
    }
  }
  std::vector<std::string> of_stages;
  for (int stage = 0; stage < experiment.stages; ++stage) {
    const auto& cpus = of_devices.at(static_cast<std::size_t>(device_of(experiment.placement, stage)));
    of_stages.push_back(cpus == kAllCpus ? "" : cpus);
  }
  return of_stages;
}

}  // namespace paretopipe::experiment
