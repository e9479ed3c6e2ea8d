#pragma once
#include <paretopipe/core/json_fields.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::experiment {

/// The name of the profile that restricts nothing.
inline constexpr const char* kNoDeviceProfile = "none";

/// The resources of this machine that a stage may use, so that it resembles a smaller device. This shows trends, not a
/// real device's numbers. The default restricts nothing.
struct DeviceProfile {
  std::string name = kNoDeviceProfile;
  std::string cpus{};                                ///< in the kernel's list format; empty: assigned automatically
  std::optional<int> threads{};                      ///< compute threads of each of its stages
  std::optional<double> cpu_quota{};                 ///< CPU time in CPUs, over all CPUs: 0.5 is half of one
  std::optional<std::int64_t> memory_limit_bytes{};  ///< for all its stages together

  bool operator==(const DeviceProfile&) const = default;

  bool emulated() const { return name != kNoDeviceProfile; }
  /// True if the kernel has to restrict the device with a cgroup.
  bool limited() const { return cpu_quota || memory_limit_bytes; }
};

// For records: plain numbers with the unit in the key. What is not restricted is left out.
PARETOPIPE_JSON_UNLESS_USUAL(DeviceProfile, (name, threads, cpu_quota, memory_limit_bytes), (cpus))

/// "pi (0.25 CPUs, 1.00 GiB, 1 thread)"; "none".
std::string describe(const DeviceProfile& profile);

/// Reads a user's profile: {"description": …, "cpus": [0, 1], "threads": 1, "cpu_quota": 0.5, "memory_limit": "1 GiB"},
/// each key optional (configs/devices/README.md). Unknown keys, wrong types and values out of range throw UsageError
/// with the key's path.
DeviceProfile device_profile_from_json(const nlohmann::json& json, const std::string& name);

/// `name_or_file` is "none", a profile that ships ("pi"), or the path of a file (one that has a slash or ends in
/// .json). A file's profile is named after the file. Throws UsageError, which lists the known names for an unknown one.
DeviceProfile load_device_profile(const std::string& name_or_file);

/// Loads the profiles in order. Returns an empty list if no profile restricts or names anything, so that nothing
/// differs from an experiment without profiles.
std::vector<DeviceProfile> load_device_profiles(const std::vector<std::string>& names_or_files);

}  // namespace paretopipe::experiment
