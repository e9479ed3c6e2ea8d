#pragma once
#include <paretopipe/host/health.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Finds the shared libraries that a program would load. Internal to this folder.
namespace paretopipe::host {

struct LoadedLibraries {
  std::vector<std::filesystem::path> found;
  std::vector<std::string> missing;
};

/// Asks the dynamic loader, without running the program, as ldd(1) does and at the same speed. Absent if that fails.
std::optional<LoadedLibraries> read_loaded_libraries(const std::filesystem::path& program);

/// Parses lines such as "\tlibm.so.6 => /lib/libm.so.6 (0x7f…)" or "\tlibm.so.6 => not found"; ignores other lines.
LoadedLibraries parse_loaded_libraries(std::string_view text);

/// The BLAS among `libraries`, whose symbolic links must be resolved. Absent if LibTorch is not among them, because
/// then this is no stage program.
std::optional<Blas> find_blas(const std::vector<std::filesystem::path>& libraries);

}  // namespace paretopipe::host
