#pragma once
#include <paretopipe/host/health.hpp>

#include <filesystem>
#include <optional>
#include <string_view>

namespace paretopipe::host {

/// Looks at this machine for whatever health.hpp judges, but for `stage_program`, which the caller knows where to find:
/// `blas` and `missing_libraries` are those of that program. Takes about 0.1 s. Never throws for what cannot be read.
/// `root` is for tests: the folder in which /proc, /sys, /etc and /usr are looked for.
Observations observe(const std::optional<std::filesystem::path>& stage_program,
                     const std::filesystem::path& root = "/");

/// CPUs' worth of time that "cpu.max" of a control group (v2) allows: "max 100000" is no limit.
std::optional<double> parse_cpu_max(std::string_view text);

/// Share of the wanted CPU time that was stolen, of the first line of /proc/stat; absent for less than ten seconds of
/// CPU time, of which no share can be told.
std::optional<double> parse_steal(std::string_view stat);

/// The mode in brackets: "always [madvise] never".
std::optional<std::string> parse_chosen(std::string_view text);

}  // namespace paretopipe::host
