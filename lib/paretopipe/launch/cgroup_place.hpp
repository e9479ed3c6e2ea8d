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

/// Finds where `controller` ("cpu", "memory") restricts the process whose /proc/PID/cgroup and /proc/PID/mountinfo are
/// given: in the v1 hierarchy that has the controller, otherwise in v2's (cgroups(7), "cgroup v1 and v2 mixed"). It
/// does not check whether the controller is delegated in v2. Throws EnvironmentError that says what is missing.
CgroupPlace find_cgroup(std::string_view controller, std::string_view own_cgroups, std::string_view mountinfo);

}  // namespace paretopipe::launch
