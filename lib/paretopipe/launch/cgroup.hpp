#pragma once
#include <paretopipe/core/file_descriptor.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// The resources that a cgroup's processes may use together.
struct CgroupLimits {
  std::optional<double> cpus;  ///< CPU time in CPUs, over all CPUs
  std::optional<std::int64_t> memory_bytes;

  bool operator==(const CgroupLimits&) const = default;
};

/// This process's own cgroups, prepared to contain others. v1 needs no preparation. In v2 the controllers are handed
/// down (cgroup.subtree_control), for which a cgroup other than the root must hold no process. If it holds one, this
/// process moves into "paretopipe-PID-driver" inside it, and back at the end of life. Removes what killed drivers left
/// behind: empty cgroups with their PID in the name. One object at a time, from one thread.
class CgroupParents {
 public:
  /// Prepares limits of CPU time, of memory, or both. Throws EnvironmentError that says which cgroup refuses what, and
  /// what to do.
  CgroupParents(bool cpu, bool memory);
  ~CgroupParents();
  CgroupParents(const CgroupParents&) = delete;
  CgroupParents& operator=(const CgroupParents&) = delete;

  const std::optional<CgroupPlace>& cpu() const { return cpu_; }
  const std::optional<CgroupPlace>& memory() const { return memory_; }

 private:
  void hand_down(const std::filesystem::path& folder);

  std::optional<CgroupPlace> cpu_;
  std::optional<CgroupPlace> memory_;
  std::filesystem::path handed_down_in_;  ///< v2: where `added_` was switched on; empty if nowhere
  std::vector<std::string> added_;
  std::filesystem::path own_leaf_;  ///< v2: where this process moved to; empty if it did not
};

/// A cgroup (v1: one per controller) that restricts the processes started in it. It is removed at the end of life,
/// which must come after the end of its processes.
class Cgroup {
 public:
  /// Makes "paretopipe-PID-NAME" inside `parents` and reads the limits back. The memory limit covers swap, so that
  /// memory is not swapped out instead. Throws EnvironmentError as the parents do, or if the kernel keeps other limits.
  Cgroup(const CgroupParents& parents, const std::string& name, const CgroupLimits& limits);
  ~Cgroup();
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  /// For ChildCommand::cgroups of a program that is to run in it. Borrowed.
  std::vector<int> descriptors() const;

  /// The limits that the kernel reports as applied.
  const CgroupLimits& applied() const { return applied_; }
  CgroupVersion version() const { return version_; }

  /// How many of its processes the kernel has killed for exceeding the memory limit.
  std::int64_t memory_kills() const;

 private:
  /// Returns the folder of that name inside `parent`, and makes it unless this object has made it before.
  std::filesystem::path make(const CgroupPlace& parent, const std::string& name);
  void limit_cpu(const std::filesystem::path& folder, double cpus);
  void limit_memory(const std::filesystem::path& folder, std::int64_t bytes);
  void remove();

  CgroupVersion version_ = CgroupVersion::v2;
  std::vector<std::filesystem::path> folders_;
  std::filesystem::path memory_folder_;
  std::vector<FileDescriptor> entries_;  ///< cgroup.procs of each folder
  CgroupLimits applied_;
};

}  // namespace paretopipe::launch
