#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

namespace paretopipe::weights {

/// A whole file in memory, read-only; the kernel reads a page when it is touched. Its size is that at construction: a
/// file that somebody makes shorter meanwhile ends the process (SIGBUS), as with every mapping.
class MappedFile {
 public:
  /// Throws UsageError if the file cannot be opened or is no regular file.
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace paretopipe::weights
