#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/cgroup_place.hpp>

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace paretopipe::launch {
namespace {

std::vector<std::string_view> pieces(std::string_view text, char separator) {
  std::vector<std::string_view> result;
  while (true) {
    const auto end = text.find(separator);
    result.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return result;
    text.remove_prefix(end + 1);
  }
}

bool lists(std::string_view comma_separated, std::string_view word) {
  for (const auto piece : pieces(comma_separated, ',')) {
    if (piece == word) return true;
  }
  return false;
}

/// Parses a line of /proc/PID/cgroup, "4:cpu,cpuacct:/user.slice". Returns the process's path in the v1 hierarchy with
/// the controller, or in v2's, which has the number 0 and lists no controllers.
std::optional<std::string_view> path_in(std::string_view own_cgroups, CgroupVersion version,
                                        std::string_view controller) {
  for (const auto line : pieces(own_cgroups, '\n')) {
    const auto fields = pieces(line, ':');
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
  const auto before = pieces(line.substr(0, separator), ' ');
  const auto after = pieces(line.substr(separator + 3), ' ');
  if (before.size() < 6 || after.size() < 3) return std::nullopt;
  const bool wanted =
      version == CgroupVersion::v2 ? after[0] == "cgroup2" : after[0] == "cgroup" && lists(after[2], controller);
  if (!wanted) return std::nullopt;
  return Mount{unescaped(before[3]), unescaped(before[4])};
}

/// Where `path` of the hierarchy is visible, if it lies in the mounted part. In a container, that may be less than the
/// whole hierarchy.
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
  for (const auto line : pieces(mountinfo, '\n')) {
    const auto mount = mount_of(line, version, controller);
    if (!mount) continue;
    if (auto folder = seen_at(*mount, std::string(*path))) return {version, *std::move(folder)};
  }
  throw EnvironmentError(fmt::format("the cgroup {} (v{}, controller {}) of this process is mounted nowhere", *path,
                                     static_cast<int>(version), controller));
}

}  // namespace paretopipe::launch
