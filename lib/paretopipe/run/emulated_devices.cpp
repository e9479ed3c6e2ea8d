#include <paretopipe/core/units.hpp>
#include <paretopipe/run/emulated_devices.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::run {

EmulatedDevices::EmulatedDevices(const plan::Trial& trial) : trial_(trial) {
  const auto any = [&](auto limit) {
    return std::any_of(trial.devices.begin(), trial.devices.end(),
                       [&](const auto& one) { return (one.*limit).has_value(); });
  };
  const bool cpu = any(&config::DeviceProfile::cpu_quota), memory = any(&config::DeviceProfile::memory_limit_bytes);
  if (!cpu && !memory) return;
  parents_.emplace(cpu, memory);
  for (const auto& profile : trial.devices) {
    auto& cgroup = cgroups_.emplace_back();
    if (!profile.limited()) continue;
    cgroup.emplace(*parents_, fmt::format("device{}", cgroups_.size() - 1),
                   launch::CgroupLimits{profile.cpu_quota, profile.memory_limit_bytes});
  }
}

const launch::Cgroup* EmulatedDevices::cgroup_of(int stage) const {
  if (cgroups_.empty()) return nullptr;
  const auto& cgroup = cgroups_.at(static_cast<std::size_t>(config::device_of(trial_.placement, stage)));
  return cgroup ? &*cgroup : nullptr;
}

std::vector<int> EmulatedDevices::cgroups(int stage) const {
  const auto* cgroup = cgroup_of(stage);
  return cgroup == nullptr ? std::vector<int>{} : cgroup->descriptors();
}

std::string EmulatedDevices::cause_of_death(int stage) const {
  const auto* cgroup = cgroup_of(stage);
  if (cgroup == nullptr || cgroup->memory_kills() == 0) return "";
  return fmt::format(": over its memory limit of {} (device profile {})",
                     format_bytes(static_cast<double>(*cgroup->applied().memory_bytes)),
                     trial_.device_profile(stage).name);
}

void EmulatedDevices::describe_in(record::TrialRecord& record) const {
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    const int stage = static_cast<int>(i);
    const auto profile = trial_.device_profile(stage);
    if (!profile.emulated()) continue;
    auto& device = record.stages[i].emulated_device.emplace();
    device.profile = profile.name;
    device.device = config::device_of(trial_.placement, stage);
    const auto* cgroup = cgroup_of(stage);
    if (cgroup == nullptr) continue;
    device.cpu_quota = cgroup->applied().cpus;
    device.memory_limit_bytes = cgroup->applied().memory_bytes;
    device.cgroup_version = static_cast<int>(cgroup->version());
  }
}

}  // namespace paretopipe::run
