#include <paretopipe/core/units.hpp>
#include <paretopipe/run/emulated_devices.hpp>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::run {

EmulatedDevices::EmulatedDevices(const experiment::UncutTrial& trial) : trial_(trial) {
  const auto any = [&](auto limit) {
    return std::any_of(trial.devices.begin(), trial.devices.end(),
                       [&](const auto& one) { return (one.*limit).has_value(); });
  };
  const bool cpu = any(&experiment::DeviceProfile::cpu_quota),
             memory = any(&experiment::DeviceProfile::memory_limit_bytes);
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
  const auto& cgroup = cgroups_.at(static_cast<std::size_t>(experiment::device_of(trial_.placement, stage)));
  return cgroup ? &*cgroup : nullptr;
}

std::vector<int> EmulatedDevices::cgroups(int stage) const {
  const auto* cgroup = cgroup_of(stage);
  return cgroup == nullptr ? std::vector<int>{} : cgroup->descriptors();
}

namespace {

/// The least that a device must hold for its stages' blocks at any batch size, as a multiple of their weights.
/// Activations and the further versions of pipedream are not counted. Buffers count like parameters, although they have
/// neither gradients nor a state: they are small beside them.
struct Held {
  int times = 1;
  std::string_view what = "the weights of its blocks";
};

Held held_for(const experiment::Trial& trial) {
  if (!trial.training) return {};
  const auto& optimizer = trial.training->optimizer;
  if (optimizer.kind != experiment::OptimizerKind::sgd)
    return {4, "the weights of its blocks, their gradients and two moments of each"};
  if (optimizer.momentum == 0) return {2, "the weights of its blocks and their gradients"};
  return {3, "the weights of its blocks, their gradients and momenta"};
}

}  // namespace

std::optional<record::Failure> EmulatedDevices::too_small_for(const experiment::Trial& trial,
                                                              const experiment::ModelDescription& model) {
  const auto blocks = trial.stage_blocks();
  const auto held = held_for(trial);
  for (int device = 0; device < static_cast<int>(trial.devices.size()); ++device) {
    const auto& profile = trial.devices[static_cast<std::size_t>(device)];
    std::vector<int> stages;
    std::int64_t needed = 0;
    for (int stage = 0; stage < trial.stage_count(); ++stage) {
      if (experiment::device_of(trial.placement, stage) != device) continue;
      stages.push_back(stage);
      needed += held.times * model.parameter_bytes(blocks[static_cast<std::size_t>(stage)]);
    }
    if (!profile.memory_limit_bytes || needed <= *profile.memory_limit_bytes) continue;
    return record::Failure{
        "load", stages.size() == 1 ? std::optional(stages.front()) : std::nullopt,
        fmt::format("stage {} needs at least {} for {}, more than its memory limit of {} (device profile {})",
                    fmt::join(stages, " and "), format_bytes(static_cast<double>(needed)), held.what,
                    format_bytes(static_cast<double>(*profile.memory_limit_bytes)), profile.name)};
  }
  return std::nullopt;
}

void EmulatedDevices::expect(const experiment::Trial& trial, const experiment::ModelDescription& model) {
  weights_.clear();
  for (const auto& blocks : trial.stage_blocks()) weights_.push_back(model.parameter_bytes(blocks));
}

std::string EmulatedDevices::cause_of_death(int stage) const {
  const auto* cgroup = cgroup_of(stage);
  if (cgroup == nullptr || cgroup->memory_kills() == 0) return "";
  auto cause = fmt::format(": over its memory limit of {} (device profile {})",
                           format_bytes(static_cast<double>(*cgroup->applied().memory_bytes)),
                           trial_.device_profile(stage).name);
  if (!weights_.empty()) {
    const auto weights = weights_.at(static_cast<std::size_t>(stage));
    cause += fmt::format(", of which the weights of its blocks take {}", format_bytes(static_cast<double>(weights)));
  }
  return cause;
}

std::optional<record::EmulatedDevice> EmulatedDevices::describe(int stage) const {
  const auto profile = trial_.device_profile(stage);
  if (!profile.emulated()) return std::nullopt;
  record::EmulatedDevice device{profile.name, experiment::device_of(trial_.placement, stage)};
  if (const auto* cgroup = cgroup_of(stage)) {
    device.cpu_quota = cgroup->applied().cpus;
    device.memory_limit_bytes = cgroup->applied().memory_bytes;
    device.cgroup_version = static_cast<int>(cgroup->version());
  }
  return device;
}

}  // namespace paretopipe::run
