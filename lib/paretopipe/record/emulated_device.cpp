#include <paretopipe/core/json.hpp>
#include <paretopipe/record/emulated_device.hpp>

namespace paretopipe::record {

void to_json(nlohmann::json& json, const EmulatedDevice& device) {
  json = {{"profile", device.profile}, {"device", device.device}};
  write_optional(json, "cpu_quota", device.cpu_quota);
  write_optional(json, "memory_limit_bytes", device.memory_limit_bytes);
  write_optional(json, "cgroup_version", device.cgroup_version);
}

void from_json(const nlohmann::json& json, EmulatedDevice& device) {
  json.at("profile").get_to(device.profile);
  json.at("device").get_to(device.device);
  read_optional(json, "cpu_quota", device.cpu_quota);
  read_optional(json, "memory_limit_bytes", device.memory_limit_bytes);
  read_optional(json, "cgroup_version", device.cgroup_version);
}

}  // namespace paretopipe::record
