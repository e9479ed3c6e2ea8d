#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

namespace paretopipe::weights {

/// A whole file mapped into memory, read-only in intent; the kernel reads a page when it is touched. If a library
/// without const-correctness writes to it, the change stays in this process and is lost with `forget`. The size is that
/// at construction: if somebody shortens the file meanwhile, the process ends (SIGBUS), as with every mapping.
class MappedFile {
 public:
  /// Throws UsageError if the file cannot be opened or is no regular file.
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

  /// Returns the pages wholly within a part of bytes() to the system. They no longer count as this process's memory
  /// until they are touched and read again.
  void forget(std::span<const std::byte> part) const;

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace paretopipe::weights
