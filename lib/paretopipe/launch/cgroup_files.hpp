#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace paretopipe::launch {

/// The files by which the kernel shows a cgroup. Every function that throws, throws EnvironmentError with the file, the
/// reason, and what a person can do.
std::string read_cgroup_file(const std::filesystem::path& file);
void write_cgroup_file(const std::filesystem::path& file, const std::string& text);

/// What `error` says of an attempt, and what a person can do about it.
[[noreturn]] void refuse_cgroup(const std::string& attempt, int error);
[[noreturn]] void refuse_cgroup(const std::string& why);

/// The number behind `key` in lines such as "oom_kill 1"; nothing where there is no such line.
std::optional<std::int64_t> find_count(std::string_view text, std::string_view key);

/// Whether a word stands in a list such as "cpuset cpu memory".
bool has_word(std::string_view text, std::string_view word);

}  // namespace paretopipe::launch
