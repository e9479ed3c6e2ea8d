#include <paretopipe/config/assign_cpus.hpp>
#include <paretopipe/config/device_profile.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::config {
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

/// The CPUs that no profile names; all CPUs if profiles name every one.
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

std::vector<std::string> assign_cpus(const Experiment& experiment, const std::vector<int>& available) {
  if (experiment.stages < 1) return {};  // validate() refuses it
  check_placement(experiment.placement, experiment.stages);
  std::vector<std::string> of_devices(static_cast<std::size_t>(device_count(experiment.placement, experiment.stages)));
  const auto profiles = load_device_profiles(experiment.device_profiles);
  for (std::size_t i = 0; i < profiles.size() && i < of_devices.size(); ++i) of_devices[i] = profiles[i].cpus;
  if (!experiment.cpus.empty()) {
    refuse_both(of_devices, experiment);
    return experiment.cpus;
  }
  const auto without = static_cast<int>(std::count(of_devices.begin(), of_devices.end(), std::string()));
  if (without > 0) {
    const auto dealt = host::deal_cpus(left_over(of_devices, available), without);
    auto next = dealt.begin();
    for (auto& cpus : of_devices) {
      if (cpus.empty()) cpus = host::to_string(*next++);
    }
  }
  std::vector<std::string> of_stages;
  for (int stage = 0; stage < experiment.stages; ++stage) {
    of_stages.push_back(of_devices.at(static_cast<std::size_t>(device_of(experiment.placement, stage))));
  }
  return of_stages;
}

}  // namespace paretopipe::config
