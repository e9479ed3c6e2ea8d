#pragma once
#include <filesystem>
#include <string_view>

namespace paretopipe::launch {

enum class CgroupVersion { v1 = 1, v2 = 2 };

/// A process's own cgroup in the hierarchy that restricts one resource.
struct CgroupPlace {
  CgroupVersion version = CgroupVersion::v2;
  std::filesystem::path folder;  ///< where it is mounted

  bool operator==(const CgroupPlace&) const = default;
};

/// Where `controller` ("cpu", "memory") restricts the process whose /proc/PID/cgroup and /proc/PID/mountinfo these are:
/// in the v1 hierarchy that has the controller, otherwise in the one of v2 (cgroups(7), "cgroup v1 and v2 mixed"). Of
/// v2 this does not tell whether the controller is delegated. Throws EnvironmentError that says what is missing.
CgroupPlace find_cgroup(std::string_view controller, std::string_view own_cgroups, std::string_view mountinfo);

}  // namespace paretopipe::launch
