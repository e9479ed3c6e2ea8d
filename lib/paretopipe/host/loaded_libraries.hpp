#pragma once
#include <paretopipe/host/health.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Which shared libraries a program would load. Internal to this folder.
namespace paretopipe::host {

struct LoadedLibraries {
  std::vector<std::filesystem::path> found;
  std::vector<std::string> missing;
};

/// Asks the dynamic loader, without running the program: what ldd(1) does, and at the same speed. Absent where it
/// cannot be asked.
std::optional<LoadedLibraries> read_loaded_libraries(const std::filesystem::path& program);

/// "\tlibm.so.6 => /lib/libm.so.6 (0x7f…)" or "\tlibm.so.6 => not found", one a line; other lines are passed over.
LoadedLibraries parse_loaded_libraries(std::string_view text);

/// The BLAS among `libraries`, whose names have had their links resolved. Absent where LibTorch is not among them: then
/// this is no stage program, and nothing can be said.
std::optional<Blas> find_blas(const std::vector<std::filesystem::path>& libraries);

}  // namespace paretopipe::host
