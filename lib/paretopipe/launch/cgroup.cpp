#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/launch/cgroup.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "cgroup_files.hpp"

namespace paretopipe::launch {

namespace {

bool lists(std::string_view comma_separated, std::string_view word) {
  return std::ranges::count(split(comma_separated), word) > 0;
}

/// Parses a line of /proc/PID/cgroup, "4:cpu,cpuacct:/user.slice". Returns the process's path in the v1 hierarchy with
/// the controller, or in v2's, which has the number 0 and lists no controllers.
std::optional<std::string_view> path_in(std::string_view own_cgroups, CgroupVersion version,
                                        std::string_view controller) {
  for (const auto line : split(own_cgroups, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() < 3) continue;
    const bool wanted = version == CgroupVersion::v2 ? fields[0] == "0" : lists(fields[1], controller);
    if (wanted) return line.substr(fields[0].size() + fields[1].size() + 2);  // a path may hold colons
  }
  return std::nullopt;
}

/// Undoes the kernel's escapes: blanks, line ends and backslashes in paths are written as \040 and the like.
std::string unescaped(std::string_view text) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) && octal(text[i + 3])) {
      result += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

struct Mount {
  std::string root;    ///< which part of the hierarchy is mounted
  std::string folder;  ///< where
};

/// Parses a line of /proc/PID/mountinfo (proc(5)): "36 35 0:30 ROOT FOLDER rw … - cgroup cgroup rw,cpu".
std::optional<Mount> mount_of(std::string_view line, CgroupVersion version, std::string_view controller) {
  const auto separator = line.find(" - ");
  if (separator == std::string_view::npos) return std::nullopt;
  const auto before = split(line.substr(0, separator), ' ');
  const auto after = split(line.substr(separator + 3), ' ');
  if (before.size() < 6 || after.size() < 3) return std::nullopt;
  const bool wanted =
      version == CgroupVersion::v2 ? after[0] == "cgroup2" : after[0] == "cgroup" && lists(after[2], controller);
  if (!wanted) return std::nullopt;
  return Mount{unescaped(before[3]), unescaped(before[4])};
}

/// The folder where `path` of the hierarchy is visible. None if it lies outside the mounted part, which in a container
/// may be less than the whole hierarchy.
std::optional<std::filesystem::path> seen_at(const Mount& mount, const std::string& path) {
  if (mount.root == "/") return std::filesystem::path(mount.folder) / path.substr(1);
  if (path == mount.root) return mount.folder;
  if (!path.starts_with(mount.root + "/")) return std::nullopt;
  return std::filesystem::path(mount.folder) / path.substr(mount.root.size() + 1);
}

}  // namespace

CgroupPlace find_cgroup(std::string_view controller, std::string_view own_cgroups, std::string_view mountinfo) {
  auto version = CgroupVersion::v1;
  auto path = path_in(own_cgroups, version, controller);
  if (!path) {
    version = CgroupVersion::v2;
    path = path_in(own_cgroups, version, controller);
  }
  if (!path || !path->starts_with('/')) {
    throw EnvironmentError(fmt::format("this kernel has no cgroups with the controller {}", controller));
  }
  for (const auto line : split(mountinfo, '\n')) {
    const auto mount = mount_of(line, version, controller);
    if (!mount) continue;
    if (auto folder = seen_at(*mount, std::string(*path))) return {version, *std::move(folder)};
  }
  throw EnvironmentError(fmt::format("the cgroup {} (v{}, controller {}) of this process is mounted nowhere", *path,
                                     static_cast<int>(version), controller));
}

namespace {

/// The quota's period. It is as short as the kernel's ticks allow, because a stage that has used its quota stands still
/// for the rest of the period.
constexpr std::int64_t kPeriodUs = 10'000;
/// The kernel's smallest quota per period.
constexpr std::int64_t kLeastQuotaUs = 1'000;

struct Bandwidth {
  std::int64_t quota_us;
  std::int64_t period_us;
};

/// Lengthens the period for a small share, so that the smallest quota is enough for it.
Bandwidth bandwidth_of(double cpus) {
  const auto longer = static_cast<std::int64_t>(std::llround(static_cast<double>(kLeastQuotaUs) / cpus));
  const auto period = std::max(kPeriodUs, longer);
  return {std::max(kLeastQuotaUs, static_cast<std::int64_t>(std::llround(cpus * static_cast<double>(period)))), period};
}

std::int64_t number_in(const std::filesystem::path& file) {
  std::int64_t number = 0;
  const auto text = read_cgroup_file(file);
  if (std::istringstream(text) >> number) return number;
  refuse_cgroup(fmt::format("{} reads \"{}\" after a limit was written to it", file.string(), text));
}

/// Reads v2's cpu.max: "2500 10000", or "max 10000".
double share_in(const std::filesystem::path& file) {
  std::int64_t quota = 0, period = 0;
  const auto text = read_cgroup_file(file);
  if (std::istringstream(text) >> quota >> period && period > 0) {
    return static_cast<double>(quota) / static_cast<double>(period);
  }
  refuse_cgroup(fmt::format("{} reads \"{}\" after a limit was written to it", file.string(), text));
}

}  // namespace

Cgroup::Cgroup(const CgroupParents& parents, const std::string& name, const CgroupLimits& limits) {
  const auto leaf = fmt::format("paretopipe-{}-{}", ::getpid(), name);
  try {
    if (limits.cpus) limit_cpu(make(parents.cpu().value(), leaf), *limits.cpus);
    if (limits.memory_bytes) limit_memory(make(parents.memory().value(), leaf), *limits.memory_bytes);
    for (const auto& folder : folders_) {
      const auto file = folder / "cgroup.procs";
      entries_.emplace_back(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
      if (entries_.back().get() < 0) refuse_cgroup(fmt::format("open {}", file.string()), errno);
    }
  } catch (...) {
    remove();
    throw;
  }
}

Cgroup::~Cgroup() {
  remove();
}

std::filesystem::path Cgroup::make(const CgroupPlace& parent, const std::string& name) {
  version_ = parent.version;
  auto folder = parent.folder / name;
  if (std::find(folders_.begin(), folders_.end(), folder) != folders_.end()) return folder;
  if (::mkdir(folder.c_str(), 0755) != 0) refuse_cgroup(fmt::format("make the cgroup {}", folder.string()), errno);
  folders_.push_back(folder);
  return folder;
}

void Cgroup::limit_cpu(const std::filesystem::path& folder, double cpus) {
  const auto [quota, period] = bandwidth_of(cpus);
  if (version_ == CgroupVersion::v2) {
    write_cgroup_file(folder / "cpu.max", fmt::format("{} {}", quota, period));
    applied_.cpus = share_in(folder / "cpu.max");
  } else {
    write_cgroup_file(folder / "cpu.cfs_period_us", std::to_string(period));
    write_cgroup_file(folder / "cpu.cfs_quota_us", std::to_string(quota));
    applied_.cpus = static_cast<double>(number_in(folder / "cpu.cfs_quota_us")) /
                    static_cast<double>(number_in(folder / "cpu.cfs_period_us"));
  }
  if (std::abs(*applied_.cpus - cpus) <= 0.01 * cpus) return;
  refuse_cgroup(fmt::format("the kernel keeps a quota of {:g} CPUs in {} where {:g} were asked for", *applied_.cpus,
                            folder.string(), cpus));
}

void Cgroup::limit_memory(const std::filesystem::path& folder, std::int64_t bytes) {
  const bool v2 = version_ == CgroupVersion::v2;
  const auto limit = folder / (v2 ? "memory.max" : "memory.limit_in_bytes");
  write_cgroup_file(limit, std::to_string(bytes));
  // Set only if the kernel accounts for swap. v1 counts memory and swap together.
  const auto swap = folder / (v2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes");
  if (std::filesystem::exists(swap)) write_cgroup_file(swap, v2 ? "0" : std::to_string(bytes));
  memory_folder_ = folder;
  applied_.memory_bytes = number_in(limit);
  if (*applied_.memory_bytes <= bytes && *applied_.memory_bytes > bytes - ::sysconf(_SC_PAGESIZE)) return;
  refuse_cgroup(fmt::format("the kernel keeps a memory limit of {} B in {} where {} B were asked for",
                            *applied_.memory_bytes, folder.string(), bytes));
}

std::vector<int> Cgroup::descriptors() const {
  std::vector<int> result;
  for (const auto& entry : entries_) result.push_back(entry.get());
  return result;
}

std::int64_t Cgroup::memory_kills() const {
  if (memory_folder_.empty()) return 0;
  constexpr std::string_view kKey = "oom_kill ";
  const auto* file = version_ == CgroupVersion::v2 ? "memory.events" : "memory.oom_control";
  const auto text = read_cgroup_file(memory_folder_ / file);
  for (const auto line : split(text, '\n')) {
    if (line.starts_with(kKey)) return parse_number<std::int64_t>(line.substr(kKey.size())).value_or(0);
  }
  return 0;
}

void Cgroup::remove() {
  // The kernel frees a dead process's resources a moment after its end, and v1 does not announce it. So this tries
  // again for up to a second.
  constexpr int kAttempts = 1000;
  entries_.clear();
  for (const auto& folder : folders_) {
    for (int attempt = 0; attempt < kAttempts && ::rmdir(folder.c_str()) != 0 && errno == EBUSY; ++attempt) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  folders_.clear();
}

}  // namespace paretopipe::launch
