#include <paretopipe/core/text.hpp>
#include <paretopipe/host/control_groups.hpp>
#include <paretopipe/host/proc_text.hpp>

#include <algorithm>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace paretopipe::host {

namespace fs = std::filesystem;
namespace {

/// Version 1 expresses "no limit" as a number near the largest one, which the available memory never exceeds.
std::optional<double> memory_limit_of(const fs::path& group) {
  for (const auto* file : {"memory.max", "memory.limit_in_bytes"}) {
    const auto bytes = parse_number<std::int64_t>(read_text(group / file).value_or(""));
    if (bytes && *bytes >= 0) return static_cast<double>(*bytes);
  }
  return std::nullopt;
}

/// Version 2's hierarchy names no controllers and may restrict any.
bool may_restrict(std::string_view controllers, std::string_view controller) {
  const auto list = fmt::format(",{},", controllers);
  return controllers.empty() || list.find(fmt::format(",{},", controller)) != std::string::npos;
}

}  // namespace

std::optional<double> tightest_limit(std::string_view controller, const GroupLimit& limit, const fs::path& root) {
  std::optional<double> tightest;
  std::istringstream lines(read_text(root / "proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    if (!may_restrict(controllers, controller)) continue;
    const auto mount = root / "sys/fs/cgroup" / controllers;
    // In a container, the outer groups are not visible, and the container's own group is the mount itself.
    for (fs::path group = fs::path(line.substr(second + 1)).relative_path();; group = group.parent_path()) {
      const auto found = limit(group.empty() ? mount : mount / group);
      if (found) tightest = std::min(*found, tightest.value_or(*found));
      if (group.empty()) break;
    }
  }
  return tightest;
}

std::int64_t usable_memory_bytes(const fs::path& root) {
  const auto available =
      parse_kilobyte_field(read_text(root / "proc/meminfo").value_or(""), "MemAvailable").value_or(0);
  const auto limit = tightest_limit("memory", memory_limit_of, root);
  return limit && *limit < static_cast<double>(available) ? static_cast<std::int64_t>(*limit) : available;
}

}  // namespace paretopipe::host
