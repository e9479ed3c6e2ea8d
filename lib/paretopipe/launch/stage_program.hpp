#pragma once
#include <filesystem>

namespace paretopipe::launch {

/// Finds the stage program: the environment variable PARETOPIPE_STAGE if set, otherwise `paretopipe-stage` in the
/// folder of this executable. Throws EnvironmentError saying where it was looked for.
std::filesystem::path find_stage_program();

}  // namespace paretopipe::launch
