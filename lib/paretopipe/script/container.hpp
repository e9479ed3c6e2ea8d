#pragma once
#include <filesystem>

namespace paretopipe::script {

/// Looks into the file without LibTorch's loader, which trusts what it reads: it must be a whole zip with the parts of
/// a TorchScript archive, and its code must not ask for what would run, or touch other files, while it is loaded or
/// computed. Throws UsageError that says what the file is instead.
void check_container(const std::filesystem::path& file);

}  // namespace paretopipe::script
