#pragma once
#include <paretopipe/host/health.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::host {

/// Observes everything on this machine that health.hpp judges. The caller knows where to find the stage program and
/// passes it; `blas` and `missing_libraries` are that program's. Takes about 0.1 s. Never throws for what cannot be
/// read. `root` is for tests: it is the folder that contains /proc, /sys, /etc and /usr.
Observations observe(const std::optional<std::filesystem::path>& stage_program,
                     const std::filesystem::path& root = "/");

/// The CPU time, in CPUs, that a control group's "cpu.max" (v2) allows. "max 100000" is no limit.
std::optional<double> parse_cpu_max(std::string_view text);

/// The share of the wanted CPU time that was stolen, from the first line of /proc/stat. Absent for less than ten
/// seconds of CPU time, which is too little to tell.
std::optional<double> parse_steal(std::string_view stat);

/// The mode in brackets, as in "always [madvise] never".
std::optional<std::string> parse_chosen(std::string_view text);

// Finds the shared libraries that a program would load. Internal to this folder.

struct LoadedLibraries {
  std::vector<std::filesystem::path> found;
  std::vector<std::string> missing;
};

/// Asks the dynamic loader, as ldd(1) does, without running the program. Takes as long as ldd(1). Absent if that fails.
std::optional<LoadedLibraries> read_loaded_libraries(const std::filesystem::path& program);

/// Parses lines such as "\tlibm.so.6 => /lib/libm.so.6 (0x7f…)" or "\tlibm.so.6 => not found"; ignores other lines.
LoadedLibraries parse_loaded_libraries(std::string_view text);

/// The BLAS among `libraries`, whose symbolic links must be resolved. Absent if LibTorch is not among them, because
/// then this is no stage program.
std::optional<Blas> find_blas(const std::vector<std::filesystem::path>& libraries);

}  // namespace paretopipe::host
