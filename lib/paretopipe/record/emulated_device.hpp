#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace paretopipe::record {

/// The part of a machine on which a stage ran as another device, and the restriction as the kernel reports it. Threads
/// and CPUs are in the stage's own report, as for every stage.
struct EmulatedDevice {
  std::string profile;                ///< its name; what it asks for is in the trial
  int device = 0;                     ///< the device, which other stages may share
  std::optional<double> cpu_quota{};  ///< CPUs' worth of time
  std::optional<std::int64_t> memory_limit_bytes{};
  std::optional<int> cgroup_version{};  ///< 1 or 2, if the kernel restricts it

  bool operator==(const EmulatedDevice&) const = default;
};

void to_json(nlohmann::json& json, const EmulatedDevice& device);
void from_json(const nlohmann::json& json, EmulatedDevice& device);

}  // namespace paretopipe::record
