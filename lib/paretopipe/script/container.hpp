#pragma once
#include <paretopipe/weights/mapped_file.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace paretopipe::script {

/// Where the numbers of one of an archive's tensors are.
struct Storage {
  std::string key;
  std::size_t key_position;          ///< in the pickle
  std::span<const std::byte> bytes;  ///< of Container::file
};

/// A TorchScript archive that was looked into, and may be given to LibTorch.
struct Container {
  std::shared_ptr<const weights::MappedFile> file;
  /// What LibTorch parses: code (code/...), pickles, and the format's version, by their names without the folder that
  /// all lie in.
  std::map<std::string, std::string> texts;
  /// Of every tensor of these two pickles.
  std::vector<Storage> storages_of_data;
  std::vector<Storage> storages_of_constants;
};

inline constexpr const char* kDataPickle = "data.pkl";
inline constexpr const char* kConstantsPickle = "constants.pkl";

/// Looks into the file without LibTorch, which trusts what it reads: it must be a whole zip with the parts of a
/// TorchScript archive, all with their checksums; its pickles must ask for nothing but what an archive needs, and its
/// tensors lie within their bytes; its code must not ask for what would run, or touch other files, while it is loaded
/// or computed, nor be nested so deep that LibTorch runs out of stack. Reads all of the file, without keeping it in
/// memory, and executes nothing of it. Throws UsageError that says what the file is instead, or what is wrong with it.
Container open_container(const std::filesystem::path& file);

}  // namespace paretopipe::script
