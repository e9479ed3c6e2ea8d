#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

/// What the control groups (cgroups(7), versions 1 and 2) leave to this process.
namespace paretopipe::host {

/// What a group's folder says of one resource; absent where it sets no limit.
using GroupLimit = std::function<std::optional<double>(const std::filesystem::path& group)>;

/// The tightest limit of this process's group and all groups around it, in the hierarchies that may restrict
/// `controller` ("cpu", "memory"). `root` is for tests, here and below: the folder in which /proc and /sys are looked
/// for.
std::optional<double> tightest_limit(std::string_view controller, const GroupLimit& limit,
                                     const std::filesystem::path& root);

/// Bytes that this process may use: what the kernel calls available, or its group's limit where that is less, as for an
/// emulated device. What others in the group hold is not subtracted. 0 where it cannot be read.
std::int64_t usable_memory_bytes(const std::filesystem::path& root = "/");

}  // namespace paretopipe::host
