#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace paretopipe::files {

/// A file in an archive.
struct ZipEntry {
  std::span<const std::byte> bytes;           ///< as stored in the archive
  std::uint32_t crc32 = 0;                    ///< of the file, according to the archive; not compared
  std::optional<std::uint64_t> file_bytes{};  ///< the file's length, if it is compressed (deflated)
};

using ZipEntries = std::map<std::string_view, ZipEntry>;

/// True if the file begins like a zip archive that is not empty.
bool looks_like_zip(std::span<const std::byte> file);

/// The entries of a zip archive as torch.jit.save writes them: stored or deflated, with or without the 64-bit
/// extensions (PKWARE's APPNOTE 6.3, sections 4.3.7 to 4.3.16). Reads the directory and the head of each entry. The
/// result, including its names, refers to `archive`.
///
/// Throws UsageError, a sentence without the archive's name, for a truncated or damaged archive: the file does not end
/// with an end record, a record or an entry reaches beyond its place, entries overlap, a name is repeated or differs
/// between directory and entry. Also for what PyTorch never writes: other compression, encryption, several disks, a
/// comment at the end.
ZipEntries read_entries(std::span<const std::byte> archive);

/// Throws UsageError that names a compressed entry. Archives of torch.save have none.
void require_stored(const ZipEntries& entries);

/// The file in a deflated entry. Throws UsageError, a sentence without a name, if the entry does not inflate to its
/// stated size and CRC-32, or inflates to more than `longest`.
std::string inflated(const ZipEntry& entry, std::uint64_t longest);

}  // namespace paretopipe::files
