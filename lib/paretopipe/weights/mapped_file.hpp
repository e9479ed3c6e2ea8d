#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

namespace paretopipe::weights {

/// A whole file in memory; the kernel reads a page when it is touched. To be read only: what is written to its pages
/// nevertheless, as a library might that knows no constant memory, stays in this process and is lost with `forget`. Its
/// size is that at construction: a file that somebody makes shorter meanwhile ends the process (SIGBUS), as with every
/// mapping.
class MappedFile {
 public:
  /// Throws UsageError if the file cannot be opened or is no regular file.
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

  /// Gives the pages that lie wholly within a part of bytes() back to the system: they no longer count as this
  /// process's memory, until they are touched, and read, again.
  void forget(std::span<const std::byte> part) const;

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace paretopipe::weights
