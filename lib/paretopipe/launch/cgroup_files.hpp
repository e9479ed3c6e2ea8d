#pragma once
#include <filesystem>
#include <string>

namespace paretopipe::launch {

/// The files through which the kernel shows a cgroup. These functions throw EnvironmentError with the file, the reason,
/// and what a person can do.
std::string read_cgroup_file(const std::filesystem::path& file);
void write_cgroup_file(const std::filesystem::path& file, const std::string& text);

/// Throws the reason `error` for a failed attempt, and what a person can do about it.
[[noreturn]] void refuse_cgroup(const std::string& attempt, int error);
[[noreturn]] void refuse_cgroup(const std::string& why);

}  // namespace paretopipe::launch
