#pragma once
#include <paretopipe/compute/files/bytes.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::archive {

/// An upper bound on how deep LibTorch's recursive parser and compiler go into a statement of TorchScript source. It is
/// the number of brackets, operators and levels of indentation of a statement, over all its lines, outside of strings
/// and comments. Returns the largest of all statements.
std::size_t deepest_statement(std::string_view code);

/// No model comes near this depth, and LibTorch still handles it with the usual stack of 8 MiB.
inline constexpr std::size_t kDeepestStatement = 2000;

/// Where the bytes of one of an archive's tensors are.
struct Storage {
  std::string key;
  std::size_t key_position;          ///< in the pickle
  std::span<const std::byte> bytes;  ///< in Container::file
};

/// A TorchScript archive that was checked and may be given to LibTorch.
struct Container {
  std::shared_ptr<const files::MappedFile> file;
  /// What LibTorch parses: code (code/...), pickles and the format's version, by name without the common folder.
  std::map<std::string, std::string> texts;
  /// The storage of every tensor of these two pickles.
  std::vector<Storage> storages_of_data;
  std::vector<Storage> storages_of_constants;
};

inline constexpr const char* kDataPickle = "data.pkl";
inline constexpr const char* kConstantsPickle = "constants.pkl";
inline constexpr std::string_view kCodeFolder = "code/";

/// Checks the file without LibTorch, which trusts what it reads. The file must be a complete zip with the parts of a
/// TorchScript archive and correct checksums. Its pickles must ask only for what an archive needs, and its tensors must
/// lie within their bytes. Its code must not ask for anything that would run or touch other files while it is loaded or
/// computed, nor be nested so deep that LibTorch runs out of stack. Reads all of the file without keeping it in memory,
/// and executes nothing of it. Throws UsageError that says what the file is instead, or what is wrong with it.
Container open_container(const std::filesystem::path& file);

}  // namespace paretopipe::archive
