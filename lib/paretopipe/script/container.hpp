#pragma once
#include <filesystem>

namespace paretopipe::script {

/// Looks into the file without LibTorch, which trusts what it reads: it must be a whole zip with the parts of a
/// TorchScript archive, all with their checksums; its pickles must ask for nothing but what an archive needs, and its
/// tensors lie within their bytes; its code must not ask for what would run, or touch other files, while it is loaded
/// or computed, nor be nested so deep that LibTorch runs out of stack. Reads all of the file, and executes nothing of
/// it. Throws UsageError that says what the file is instead, or what is wrong with it.
void check_container(const std::filesystem::path& file);

}  // namespace paretopipe::script
