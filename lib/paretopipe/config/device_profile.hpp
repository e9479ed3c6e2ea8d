#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::config {

/// The name that stands for a device without a profile.
inline constexpr const char* kNoDeviceProfile = "none";

/// What a stage may use of this machine, so that it is like a smaller device: good for trends, not for a real device's
/// numbers. The default restricts nothing.
struct DeviceProfile {
  std::string name = kNoDeviceProfile;
  std::string cpus{};                                ///< in the kernel's list format; empty: what is dealt to it
  std::optional<int> threads{};                      ///< compute threads of each of its stages
  std::optional<double> cpu_quota{};                 ///< CPUs' worth of time, over all CPUs: 0.5 is half of one
  std::optional<std::int64_t> memory_limit_bytes{};  ///< of all its stages together

  bool operator==(const DeviceProfile&) const = default;

  bool emulated() const { return name != kNoDeviceProfile; }
  /// Whether the kernel has to restrict it, with a cgroup.
  bool limited() const { return cpu_quota || memory_limit_bytes; }
};

/// "pi (0.25 CPUs, 1.00 GiB, 1 thread)"; "none".
std::string describe(const DeviceProfile& profile);

/// In records: plain numbers with their unit in the key; what is not restricted is left out.
void to_json(nlohmann::json& json, const DeviceProfile& profile);
void from_json(const nlohmann::json& json, DeviceProfile& profile);

/// Reads what a person wrote: {"description": …, "cpus": [0, 1], "threads": 1, "cpu_quota": 0.5, "memory_limit":
/// "1 GiB"}, each key optional (configs/devices/README.md). Unknown keys, wrong types and values out of range throw
/// UsageError with the key's path.
DeviceProfile device_profile_from_json(const nlohmann::json& json, const std::string& name);

/// `name_or_file`: "none", a profile that ships ("pi"), or the path of a file (one that has a slash or ends in .json;
/// its profile is called after the file). Throws UsageError; for an unknown name it lists the known ones.
DeviceProfile load_device_profile(const std::string& name_or_file);

/// One after the other; none where none restricts or names anything, so that nothing differs from an experiment
/// without profiles.
std::vector<DeviceProfile> load_device_profiles(const std::vector<std::string>& names_or_files);

}  // namespace paretopipe::config
