#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace paretopipe::weights {

/// A file in an archive.
struct ZipEntry {
  std::span<const std::byte> bytes;           ///< as they lie there
  std::uint32_t crc32 = 0;                    ///< of the file, as the archive says; not compared
  std::optional<std::uint64_t> file_bytes{};  ///< the file's length, if it is compressed (deflated)
};

using ZipEntries = std::map<std::string_view, ZipEntry>;

/// Whether the file begins as a zip archive that holds something.
bool looks_like_zip(std::span<const std::byte> file);

/// The entries of a zip archive as torch.jit.save writes them: stored or deflated, with or without the 64-bit
/// extensions (PKWARE's APPNOTE 6.3, sections 4.3.7 to 4.3.16). Reads the directory and the head of each entry. The
/// result, names too, refers to `archive`.
///
/// Throws UsageError, a sentence without the archive's name, for a truncated or damaged archive: the file does not end
/// with an end record, a record or an entry reaches beyond its place, entries overlap, a name stands twice or differs
/// between directory and entry; and for what PyTorch never writes: other compression, encryption, several disks, a
/// comment at the end.
ZipEntries read_entries(std::span<const std::byte> archive);

/// Throws UsageError naming an entry that is compressed, as none is in an archive of torch.save.
void require_stored(const ZipEntries& entries);

/// The file that a deflated entry holds. Throws UsageError, a sentence without a name, if the entry does not inflate to
/// as many bytes as it says, with the CRC-32 that it says, or to more than `longest`.
std::string inflated(const ZipEntry& entry, std::uint64_t longest);

}  // namespace paretopipe::weights
