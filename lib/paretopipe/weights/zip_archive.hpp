#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>

namespace paretopipe::weights {

/// A file in an archive.
struct ZipEntry {
  std::span<const std::byte> bytes;
  std::uint32_t crc32 = 0;  ///< of `bytes`, as the archive says; not compared
};

using ZipEntries = std::map<std::string_view, ZipEntry>;

/// Whether the file begins as a zip archive that holds something.
bool looks_like_zip(std::span<const std::byte> file);

/// The entries of a zip archive as torch.save writes them: stored, not compressed, with or without the 64-bit
/// extensions (PKWARE's APPNOTE 6.3, sections 4.3.7 to 4.3.16). Reads the directory and the head of each entry. The
/// result, names too, refers to `archive`.
///
/// Throws UsageError, a sentence without the archive's name, for a truncated or damaged archive: the file does not end
/// with an end record, a record or an entry reaches beyond its place, entries overlap, a name stands twice or differs
/// between directory and entry; and for what torch.save never writes: compression, encryption, several disks, a comment
/// at the end.
ZipEntries read_stored_entries(std::span<const std::byte> archive);

}  // namespace paretopipe::weights
