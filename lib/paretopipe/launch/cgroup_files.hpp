#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace paretopipe::launch {

/// The files through which the kernel shows a cgroup. Functions that throw, throw EnvironmentError with the file, the
/// reason, and what a person can do.
std::string read_cgroup_file(const std::filesystem::path& file);
void write_cgroup_file(const std::filesystem::path& file, const std::string& text);

/// Throws the reason `error` for a failed attempt, and what a person can do about it.
[[noreturn]] void refuse_cgroup(const std::string& attempt, int error);
[[noreturn]] void refuse_cgroup(const std::string& why);

/// The number after `key` in lines such as "oom_kill 1"; none if there is no such line.
std::optional<std::int64_t> find_count(std::string_view text, std::string_view key);

/// True if a word occurs in a list such as "cpuset cpu memory".
bool has_word(std::string_view text, std::string_view word);

}  // namespace paretopipe::launch
