#include <paretopipe/compute/files/zip_archive.hpp>

#include "refused.hpp"

using namespace paretopipe;
using namespace paretopipe::files;
using support::contains;

namespace {

const std::vector<ZipMember> kMembers{{"a/one", "first"}, {"a/two", ""}, {"a/three", std::string(300, 'x')}};

std::string refusal_of(const std::string& archive) {
  return support::message_of<UsageError>([&] { require_stored(read_entries(bytes_of(archive))); });
}

/// A member's record in the directory is found by its signature, from the end.
std::size_t last_record(const std::string& archive) {
  return archive.rfind("PK\x01\x02");
}

std::string with_bytes(std::string archive, std::size_t offset, const std::string& bytes) {
  return archive.replace(offset, bytes.size(), bytes);
}

}  // namespace

TEST_CASE("the entries of an archive are found and inflated, with narrow and with wide records", "[weights]") {
  const bool wide = GENERATE(false, true);
  const auto stored = zip_file(kMembers, {.wide = wide});
  const auto deflated = zip_file(kMembers, {.wide = wide, .method = kDeflated});
  const auto entries = read_entries(bytes_of(stored));
  const auto compressed = read_entries(bytes_of(deflated));
  REQUIRE(entries.size() == 3);
  REQUIRE(compressed.size() == 3);
  for (const auto& member : kMembers) {
    const auto& entry = entries.at(member.name);
    CHECK(text_of(entry.bytes) == member.bytes);
    CHECK((entry.bytes.data() - bytes_of(stored).data()) % 64 == 0);
    CHECK(compressed.at(member.name).file_bytes == member.bytes.size());
    CHECK(inflated(compressed.at(member.name), 300) == member.bytes);
  }
  CHECK(compressed.at("a/three").bytes.size() < 300);
  const auto none = zip_file({});
  CHECK(read_entries(bytes_of(none)).empty());
}

TEST_CASE("a deflated entry that is damaged, has another length, or is too long, is refused", "[weights]") {
  std::string text;
  for (int i = 0; i < 200; ++i) text += std::to_string(i * i);
  const auto archive = zip_file({{"a", text}}, {.method = kDeflated});
  const auto good = read_entries(bytes_of(archive)).at("a");
  const auto refusal = [&](const ZipEntry& entry) {
    return support::message_of<UsageError>([&] { inflated(entry, 10'000); });
  };
  CHECK(refusal(good) == "(nothing was thrown)");
  CHECK(contains(support::message_of<UsageError>([&] { inflated(good, text.size() - 1); }), "is too much"));
  for (const auto length : {text.size() - 1, text.size() + 1, std::size_t{0}}) {
    CHECK(contains(refusal({good.bytes, good.crc32, length}), "does not inflate"));
  }
  CHECK(contains(refusal({good.bytes, good.crc32 + 1, good.file_bytes}), "damaged: its bytes have the CRC-32"));
  CHECK(contains(refusal({good.bytes.first(good.bytes.size() - 1), good.crc32, good.file_bytes}), "does not inflate"));
  CHECK(contains(refusal({{}, good.crc32, good.file_bytes}), "does not inflate"));
  for (std::size_t i = 0; i < good.bytes.size(); ++i) {
    std::string damaged(text_of(good.bytes));
    damaged[i] ^= 4;
    CHECK(contains(refusal({bytes_of(damaged), good.crc32, good.file_bytes}), "damaged"));
  }
}

TEST_CASE("entries that are compressed, encrypted, called twice or otherwise, or share bytes are refused",
          "[weights]") {
  CHECK(contains(refusal_of(zip_file(kMembers, {.method = kDeflated})),
                 "its entry \"a/one\" is compressed, which torch.save never does"));
  CHECK(contains(refusal_of(zip_file(kMembers, {.method = 12})), "in a way that PyTorch never uses (method 12)"));
  CHECK(contains(refusal_of(zip_file(kMembers, {.flags = 1})), "its entry \"a/one\" is encrypted"));
  CHECK(contains(refusal_of(zip_file({{"a", "1"}, {"a", "2"}})), "the name \"a\" stands twice"));
  auto renamed = zip_file(kMembers);
  renamed[renamed.find("a/one")] = 'b';
  CHECK(contains(refusal_of(renamed), "another name"));
  const auto archive = zip_file({{"a", std::string(100, 'x')}, {"b", "y"}});
  const auto first = archive.find("PK\x01\x02");
  const auto longer = little_endian(std::uint32_t{101});  // the first entry reaches over the second
  CHECK(contains(refusal_of(with_bytes(with_bytes(archive, first + 20, longer), first + 24, longer)), "overlap"));
}

TEST_CASE("sizes and offsets that reach beyond the archive, or that no file has, are refused", "[weights]") {
  const auto narrow = zip_file(kMembers);
  const auto record = last_record(narrow);
  const auto most = little_endian(std::uint32_t{0xfffffffe});
  const auto most16 = little_endian(UINT16_MAX);
  const auto wide = zip_file(kMembers, {.wide = true});
  const auto extra = last_record(wide) + 46 + kMembers.back().name.size() + 4;
  const auto huge = little_endian(UINT64_MAX - 10);
  const auto end = wide.find("PK\x06\x06");
  for (const auto& [archive, reason] :
       {std::pair(with_bytes(with_bytes(narrow, record + 20, most), record + 24, most), "beyond its place"),
        {with_bytes(narrow, record + 20, most), "two sizes"},
        {with_bytes(narrow, record + 42, most), "beyond its place"},
        {with_bytes(narrow, record + 42, little_endian(std::uint32_t{1})), "not where"},
        {with_bytes(narrow, record + 42, little_endian(UINT32_MAX)), "64 bits is announced"},
        {with_bytes(narrow, record + 28, most16), "beyond its place"},
        {with_bytes(narrow, record + 32, most16), "beyond its place"},
        {with_bytes(with_bytes(wide, extra, huge), extra + 8, huge), "beyond its place"},
        {with_bytes(wide, extra + 16, huge), "beyond its place"},
        {with_bytes(wide, end + 40, huge), "beyond its place"},
        {with_bytes(wide, end + 48, huge), "beyond its place"},
        {with_bytes(wide, end + 24, huge), "contradict"},
        {with_bytes(wide, wide.find("PK\x06\x07") + 8, huge), "beyond its place"}}) {
    const auto said = refusal_of(archive);
    CAPTURE(said);
    CHECK(contains(said, reason));
  }
}

TEST_CASE("an archive that does not end as one, or counts wrongly, is refused", "[weights]") {
  const auto archive = zip_file(kMembers);
  CHECK(contains(refusal_of(archive + "x"), "does not end as an archive does"));
  CHECK(contains(refusal_of("PK"), "shorter than the end"));
  const auto end = archive.size() - 22;
  CHECK(contains(refusal_of(with_bytes(archive, end + 4, "\1")), "several disks"));
  CHECK(contains(refusal_of(with_bytes(archive, end + 8, "\4")), "several disks"));
  CHECK(contains(refusal_of(with_bytes(archive, end + 8, std::string("\4\0\4", 3))), "not as many entries"));
}
