#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/stage_program.hpp>

#include <cstdlib>

#include <unistd.h>

namespace paretopipe::launch {

std::filesystem::path find_stage_program() {
  const char* chosen = std::getenv("PARETOPIPE_STAGE");
  const std::filesystem::path program =
      chosen != nullptr ? std::filesystem::path(chosen)
                        : std::filesystem::read_symlink("/proc/self/exe").parent_path() / "paretopipe-stage";
  if (::access(program.c_str(), X_OK) != 0 || std::filesystem::is_directory(program)) {
    throw EnvironmentError(
        fmt::format("the stage program is not at {}; build it (it needs LibTorch), or name another one in the "
                    "environment variable PARETOPIPE_STAGE",
                    program.string()));
  }
  return program;
}

}  // namespace paretopipe::launch
