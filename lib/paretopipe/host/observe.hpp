#pragma once
#include <paretopipe/host/health.hpp>

#include <filesystem>
#include <optional>
#include <string_view>

namespace paretopipe::host {

/// Observes this machine for all that health.hpp judges. `stage_program` comes from the caller, who knows where to find
/// it; `blas` and `missing_libraries` are that program's. Takes about 0.1 s. Never throws for what cannot be read.
/// `root` is for tests: the folder that contains /proc, /sys, /etc and /usr.
Observations observe(const std::optional<std::filesystem::path>& stage_program,
                     const std::filesystem::path& root = "/");

/// The CPU time, in CPUs, that a control group's "cpu.max" (v2) allows. "max 100000" is no limit.
std::optional<double> parse_cpu_max(std::string_view text);

/// The share of the wanted CPU time that was stolen, from the first line of /proc/stat. Absent for less than ten
/// seconds of CPU time, which is too little to tell.
std::optional<double> parse_steal(std::string_view stat);

/// The mode in brackets, as in "always [madvise] never".
std::optional<std::string> parse_chosen(std::string_view text);

}  // namespace paretopipe::host
