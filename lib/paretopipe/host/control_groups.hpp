#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

/// The limits that control groups (cgroups(7), versions 1 and 2) set for this process.
namespace paretopipe::host {

/// Reads a group's limit of one resource from the group's folder; absent if it sets none.
using GroupLimit = std::function<std::optional<double>(const std::filesystem::path& group)>;

/// The tightest limit among this process's group and all groups around it, in the hierarchies that may restrict
/// `controller` ("cpu", "memory"). `root`, here and below, is for tests: it is the folder that contains /proc and /sys.
std::optional<double> tightest_limit(std::string_view controller, const GroupLimit& limit,
                                     const std::filesystem::path& root);

/// The bytes that this process may use: the kernel's available memory, or its group's limit if that is less, as on an
/// emulated device. What others in the group hold is not subtracted. 0 if unreadable.
std::int64_t usable_memory_bytes(const std::filesystem::path& root = "/");

}  // namespace paretopipe::host
