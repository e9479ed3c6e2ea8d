#include <paretopipe/compute/files/bytes.hpp>
#include <paretopipe/compute/files/stored_tensor.hpp>
#include <paretopipe/compute/files/zip_archive.hpp>

#include <algorithm>
#include <limits>
#include <vector>

#include <zlib.h>

namespace paretopipe::files {

namespace {

constexpr std::uint32_t kEntrySignature = 0x04034b50;
constexpr std::uint32_t kDirectorySignature = 0x02014b50;
constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kLocator64Signature = 0x07064b50;

constexpr std::size_t kEntryHeadBytes = 30;
constexpr std::size_t kDirectoryHeadBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kLocator64Bytes = 20;

constexpr auto kSee64Bit16 = std::numeric_limits<std::uint16_t>::max();  // "the value is in the 64-bit record"
constexpr auto kSee64Bit32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint16_t kExtra64 = 1;
constexpr std::uint16_t kEncrypted = 1;

// How an entry is compressed.
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;

[[noreturn]] void fail(std::string_view reason) {
  throw UsageError(fmt::format("truncated or damaged: {}", reason));
}

Bytes require(Bytes bytes, std::uint64_t offset, std::uint64_t count, std::string_view what) {
  const auto found = slice(bytes, offset, count);
  if (!found) fail(fmt::format("{} reaches beyond its place in the archive", what));
  return *found;
}

bool has_signature(Bytes record, std::uint32_t signature) {
  return load<std::uint32_t>(record, 0) == signature;
}

/// Where the directory is, and how many entries it has.
struct Directory {
  std::uint64_t entries;
  std::uint64_t bytes;
  std::uint64_t offset;
};

/// The 64-bit record before the end record, if there is one. Every field of the end record equals its field there, or
/// says that the value does not fit.
std::optional<Directory> directory64(Bytes archive, std::size_t end, const Directory& narrow) {
  if (end < kLocator64Bytes) return std::nullopt;
  const auto locator = archive.subspan(end - kLocator64Bytes, kLocator64Bytes);
  if (!has_signature(locator, kLocator64Signature)) return std::nullopt;
  const auto record = require(archive.first(end - kLocator64Bytes), load<std::uint64_t>(locator, 8), kEnd64Bytes,
                              "the 64-bit end record");
  if (!has_signature(record, kEnd64Signature)) fail("there is no 64-bit end record where there should be one");
  const Directory wide{load<std::uint64_t>(record, 32), load<std::uint64_t>(record, 40),
                       load<std::uint64_t>(record, 48)};
  const bool agree = (narrow.entries == wide.entries || narrow.entries == kSee64Bit16) &&
                     (narrow.bytes == wide.bytes || narrow.bytes == kSee64Bit32) &&
                     (narrow.offset == wide.offset || narrow.offset == kSee64Bit32);
  if (!agree || load<std::uint64_t>(record, 24) != wide.entries) fail("its two end records contradict each other");
  return wide;
}

Directory find_directory(Bytes archive) {
  if (archive.size() < kEndBytes) fail("it is shorter than the end of an archive");
  const auto end = archive.size() - kEndBytes;
  const auto record = archive.subspan(end);
  if (!has_signature(record, kEndSignature)) fail("it does not end as an archive does");
  const Directory narrow{load<std::uint16_t>(record, 10), load<std::uint32_t>(record, 12),
                         load<std::uint32_t>(record, 16)};
  const bool one_disk = load<std::uint16_t>(record, 4) == 0 && load<std::uint16_t>(record, 6) == 0;
  if (!one_disk || load<std::uint16_t>(record, 8) != narrow.entries) fail("it claims to be one of several disks");
  return directory64(archive, end, narrow).value_or(narrow);
}

/// An entry as the directory describes it.
struct Listed {
  std::string_view name;
  std::uint32_t crc32;
  std::uint64_t bytes;
  std::optional<std::uint64_t> file_bytes;  ///< if it is deflated
  std::uint64_t offset;                     ///< of its head
};

/// The payload of the extra field with that id, if it is there.
std::optional<Bytes> find_extra(Bytes extra, std::uint16_t id) {
  while (!extra.empty()) {
    const auto head = require(extra, 0, 4, "an extra field");
    const auto payload = require(extra, 4, load<std::uint16_t>(head, 2), "an extra field");
    if (load<std::uint16_t>(head, 0) == id) return payload;
    extra = extra.subspan(4 + payload.size());
  }
  return std::nullopt;
}

/// A 32-bit field or, if it does not fit, its next 64 bits in the extra field.
std::uint64_t widened(std::uint32_t value, std::optional<Bytes>& extra) {
  if (value != kSee64Bit32) return value;
  if (!extra || extra->size() < 8) fail("a size of 64 bits is announced and missing");
  const auto wide = load<std::uint64_t>(*extra, 0);
  extra = extra->subspan(8);
  return wide;
}

/// Removes the first entry from the directory and returns it.
Listed take_listed(Bytes& directory) {
  const auto head = require(directory, 0, kDirectoryHeadBytes, "an entry of the directory");
  if (!has_signature(head, kDirectorySignature)) fail("an entry of the directory is none");
  const auto field = [&](std::size_t offset) { return load<std::uint16_t>(head, offset); };
  const auto name = require(directory, kDirectoryHeadBytes, field(28), "a name");
  const auto extra = require(directory, kDirectoryHeadBytes + name.size(), field(30), "an extra field");
  const auto comment_bytes = field(32);
  const auto used = kDirectoryHeadBytes + name.size() + extra.size();
  require(directory, used, comment_bytes, "a comment");
  if ((field(8) & kEncrypted) != 0)
    throw UsageError(fmt::format("its entry {} is encrypted", in_quotes(text_of(name))));
  const auto method = field(10);
  if (method != kStored && method != kDeflated) {
    throw UsageError(fmt::format("its entry {} is compressed in a way that PyTorch never uses (method {})",
                                 in_quotes(text_of(name)), method));
  }
  auto wide = find_extra(extra, kExtra64);
  const auto plain_bytes = widened(load<std::uint32_t>(head, 24), wide);
  const auto stored_bytes = widened(load<std::uint32_t>(head, 20), wide);
  const auto offset = widened(load<std::uint32_t>(head, 42), wide);
  if (method == kStored && plain_bytes != stored_bytes) fail("an entry that is not compressed has two sizes");
  directory = directory.subspan(used + comment_bytes);
  const auto file_bytes = method == kDeflated ? std::optional(plain_bytes) : std::nullopt;
  return {text_of(name), load<std::uint32_t>(head, 16), stored_bytes, file_bytes, offset};
}

/// The extent of an entry in the archive, including its head.
struct Place {
  std::uint64_t begin;
  std::uint64_t end;
};

void check_apart(std::vector<Place> places) {
  std::ranges::sort(places, {}, &Place::begin);
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (places[i].begin < places[i - 1].end) fail("entries overlap");
  }
}

/// The bytes of an entry behind its head. `archive` ends where the directory begins.
Bytes contents(Bytes archive, const Listed& listed) {
  const auto what = fmt::format("the entry {}", in_quotes(listed.name));
  const auto head = require(archive, listed.offset, kEntryHeadBytes, what);
  if (!has_signature(head, kEntrySignature)) fail(fmt::format("{} is not where the directory says", what));
  const auto name = require(archive, listed.offset + kEntryHeadBytes, load<std::uint16_t>(head, 26), what);
  if (text_of(name) != listed.name) fail(fmt::format("{} has another name in the directory", what));
  const auto extra = load<std::uint16_t>(head, 28);
  return require(archive, listed.offset + kEntryHeadBytes + name.size() + extra, listed.bytes, what);
}

/// True if the deflated bytes fill the file exactly.
bool inflate_whole(Bytes deflated, std::string& file) {
  constexpr std::uint64_t kMost = std::numeric_limits<uInt>::max();
  if (deflated.size() > kMost || file.size() > kMost) return false;
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;  // negative: without a head of zlib's own
  // zlib's own signature lacks a const.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(deflated.data()));
  stream.avail_in = static_cast<uInt>(deflated.size());
  stream.next_out = reinterpret_cast<Bytef*>(file.data());
  stream.avail_out = static_cast<uInt>(file.size());
  const bool ended = inflate(&stream, Z_FINISH) == Z_STREAM_END;
  inflateEnd(&stream);
  return ended && stream.avail_in == 0 && stream.avail_out == 0;
}

}  // namespace

bool looks_like_zip(Bytes file) {
  return file.size() >= sizeof(kEntrySignature) && has_signature(file, kEntrySignature);
}

ZipEntries read_entries(Bytes archive) {
  const auto place = find_directory(archive);
  auto directory = require(archive, place.offset, place.bytes, "the directory");
  const auto before = archive.first(static_cast<std::size_t>(place.offset));
  ZipEntries entries;
  std::vector<Place> places;
  while (!directory.empty()) {
    const auto listed = take_listed(directory);
    const auto bytes = contents(before, listed);
    if (!entries.emplace(listed.name, ZipEntry{bytes, listed.crc32, listed.file_bytes}).second) {
      fail(fmt::format("the name {} stands twice", in_quotes(listed.name)));
    }
    places.push_back({listed.offset, static_cast<std::uint64_t>(bytes.data() + bytes.size() - archive.data())});
  }
  if (entries.size() != place.entries) fail("the directory has not as many entries as the end says");
  check_apart(std::move(places));
  return entries;
}

void require_stored(const ZipEntries& entries) {
  for (const auto& [name, entry] : entries) {
    if (!entry.file_bytes) continue;
    throw UsageError(fmt::format("its entry {} is compressed, which torch.save never does", in_quotes(name)));
  }
}

std::string inflated(const ZipEntry& entry, std::uint64_t longest) {
  const auto length = entry.file_bytes.value();
  if (length > longest)
    throw UsageError(fmt::format("compressed, {} bytes long, and more than {} is too much", length, longest));
  std::string file(static_cast<std::size_t>(length), '\0');
  if (!inflate_whole(entry.bytes, file)) fail("what is compressed does not inflate to the length that it has");
  verify(Checksum{std::as_bytes(std::span(file)), entry.crc32});
  return file;
}

}  // namespace paretopipe::files
