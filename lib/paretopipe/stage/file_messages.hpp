#pragma once
#include <paretopipe/core/json_fields.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

/// The messages about files that the stage's device lacks.
namespace paretopipe::stage {

/// Asks for a file that another driver, or this one, sent to the stage's device before (file_cache.hpp).
struct FindFile {
  static constexpr std::string_view kType = "find_file";
  std::string sha256;  ///< of its contents, 64 hexadecimal digits in lower case
};
PARETOPIPE_JSON(FindFile, sha256)

struct FileFound {
  static constexpr std::string_view kType = "file_found";
  std::string path;  ///< on the device; empty if it does not have the file
};
PARETOPIPE_JSON(FileFound, path)

/// Sends a piece of a file to the stage's device. The pieces of a file come in order. Followed by one tensor frame,
/// with tag 0 and number 0, that holds the bytes (tensor_of in file_cache.hpp).
struct TakeChunk {
  static constexpr std::string_view kType = "take_chunk";
  std::string sha256;  ///< of the whole file
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t total = 0;  ///< bytes of the whole file
};
PARETOPIPE_JSON(TakeChunk, sha256, offset, bytes, total)

struct ChunkTaken {
  static constexpr std::string_view kType = "chunk_taken";
  std::string path;  ///< of the file on the device; empty before the last piece
};
PARETOPIPE_JSON(ChunkTaken, path)

/// Asks for a folder on the stage's device that holds these files under these names. All must have been sent before.
struct FindFolder {
  static constexpr std::string_view kType = "find_folder";
  std::vector<std::string> names;    ///< without folders, each once
  std::vector<std::string> sha256s;  ///< of their contents, as many
};
PARETOPIPE_JSON(FindFolder, names, sha256s)

struct FolderFound {
  static constexpr std::string_view kType = "folder_found";
  std::string path;                  ///< on the device; empty if files are missing
  std::vector<std::string> missing;  ///< SHA-256, each once
};
PARETOPIPE_JSON(FolderFound, path, missing)

}  // namespace paretopipe::stage
