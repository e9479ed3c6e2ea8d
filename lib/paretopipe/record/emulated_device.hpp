#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace paretopipe::record {

/// That a stage ran on a part of a machine which stands for another device, and how the kernel says that it restricts
/// it. Threads and CPUs are in the stage's own report, as for every stage.
struct EmulatedDevice {
  std::string profile;                ///< its name; what it asks for is in the trial
  int device = 0;                     ///< whose stages share this
  std::optional<double> cpu_quota{};  ///< CPUs' worth of time
  std::optional<std::int64_t> memory_limit_bytes{};
  std::optional<int> cgroup_version{};  ///< 1 or 2, where the kernel restricts it

  bool operator==(const EmulatedDevice&) const = default;
};

void to_json(nlohmann::json& json, const EmulatedDevice& device);
void from_json(const nlohmann::json& json, EmulatedDevice& device);

}  // namespace paretopipe::record
