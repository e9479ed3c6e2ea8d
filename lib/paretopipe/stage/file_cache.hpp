#pragma once
#include <paretopipe/stage/file_messages.hpp>
#include <paretopipe/wire/frame.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace paretopipe::stage {

/// The most bytes of a file that travel at a time. Both sides hold them in memory, and each chunk has a deadline of its
/// own.
inline constexpr std::int64_t kChunkBytes = std::int64_t{4} << 20;

/// The largest file that is taken.
inline constexpr std::int64_t kLargestFileBytes = std::int64_t{1} << 40;

/// The tensor that follows the request: as many int64 as hold the bytes, the last one filled up with zeroes. Throws
/// wire::ProtocolError for an impossible request.
wire::TensorSpec tensor_of(const TakeChunk& chunk);

/// The folder of files that drivers sent, in the login's cache folder (XDG Base Directory Specification). Throws
/// EnvironmentError if the login has none.
std::filesystem::path users_file_cache();

/// Files that drivers sent to this device, by the SHA-256 of their contents: archives, weights and data, which other
/// machines have elsewhere or not at all. A file gets its name once it is complete and verified, so stages of several
/// sweeps may share the folder. Nothing is ever removed from it but files that were not completed. One that a stage
/// leaves because it is killed, or its host is switched off, is removed when the next file arrives in the folder.
///
/// All functions throw wire::ProtocolError for a SHA-256 that is none in lower case: it never becomes part of a path.
class FileCache {
 public:
  /// Touches nothing yet.
  explicit FileCache(std::filesystem::path folder);
  ~FileCache();
  FileCache(const FileCache&) = delete;
  FileCache& operator=(const FileCache&) = delete;

  /// Empty if the file is not there.
  std::filesystem::path find(const std::string& sha256) const;

  /// Takes the next bytes of a file; `bytes` are those of the tensor that tensor_of() describes. The first chunk of a
  /// file discards an incomplete file. Returns the file's path after the last chunk, and nothing before. Throws
  /// wire::ProtocolError for a chunk out of order. Throws EnvironmentError, with the folder and the reason, if the file
  /// cannot be kept there or if its contents turn out to be others. Nothing of the file remains then.
  std::filesystem::path take(const TakeChunk& chunk, std::span<const std::byte> bytes);

  /// Returns a folder with links to these files. Makes it unless it is there. Throws wire::ProtocolError for names that
  /// are no plain ones of files, or that occur twice; EnvironmentError if the folder cannot be made.
  FolderFound find_folder(const FindFolder& request) const;

 private:
  class Incoming;

  std::filesystem::path folder_;
  std::unique_ptr<Incoming> incoming_;
};

}  // namespace paretopipe::stage
