#include "files.hpp"

#include <zlib.h>

#include <fmt/format.h>

namespace paretopipe::files {
namespace {

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// As zip archives have it: without a head of zlib's own.
std::string deflated(std::string_view bytes) {
  std::string result(bytes.size() + 1000, '\0');
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  deflateEnd(&stream);
  result.resize(stream.total_out);
  return result;
}

/// A member as it lies in the archive.
struct Packed {
  std::string name;
  std::string bytes;
  std::uint32_t crc32;
  std::uint64_t file_bytes;
};

Packed pack(const ZipMember& member, const ZipOptions& options) {
  return {member.name, options.method == kDeflated ? deflated(member.bytes) : member.bytes, checksum(member.bytes),
          member.bytes.size()};
}

/// What the directory says of one member.
std::string directory_entry(const Packed& member, std::uint64_t offset, const ZipOptions& options) {
  const auto size = std::uint64_t{member.bytes.size()};
  const auto narrow = [&](std::uint64_t value) {
    return little_endian(options.wide ? UINT32_MAX : static_cast<std::uint32_t>(value));
  };
  std::string extra;
  if (options.wide) {
    extra = little_endian(std::uint16_t{1}) + little_endian(std::uint16_t{24}) + little_endian(member.file_bytes) +
            little_endian(size) + little_endian(offset);
  }
  return little_endian(std::uint32_t{0x02014b50}) + std::string(4, '\0') + little_endian(options.flags) +
         little_endian(options.method) + std::string(4, '\0') + little_endian(member.crc32) + narrow(size) +
         narrow(member.file_bytes) + little_endian(static_cast<std::uint16_t>(member.name.size())) +
         little_endian(static_cast<std::uint16_t>(extra.size())) + std::string(10, '\0') + narrow(offset) +
         member.name + extra;
}

/// torch.save fills up to the alignment with an extra field.
std::string entry_head(const Packed& member, std::size_t offset, const ZipOptions& options) {
  const auto alignment = options.alignment;
  const auto before = offset + 30 + member.name.size() + 4;
  const auto padding = (alignment - before % alignment) % alignment;
  const auto size = static_cast<std::uint32_t>(member.bytes.size());
  return little_endian(std::uint32_t{0x04034b50}) + std::string(4, '\0') + little_endian(options.method) +
         std::string(4, '\0') + little_endian(member.crc32) + little_endian(size) +
         little_endian(static_cast<std::uint32_t>(member.file_bytes)) +
         little_endian(static_cast<std::uint16_t>(member.name.size())) +
         little_endian(static_cast<std::uint16_t>(4 + padding)) + member.name + "FB" +
         little_endian(static_cast<std::uint16_t>(padding)) + std::string(padding, 'Z');
}

std::string end_records(std::uint64_t entries, std::uint64_t bytes, std::uint64_t offset, bool wide) {
  std::string records;
  if (wide) {
    records = little_endian(std::uint32_t{0x06064b50}) + little_endian(std::uint64_t{44}) + std::string(12, '\0') +
              little_endian(entries) + little_endian(entries) + little_endian(bytes) + little_endian(offset);
    records += little_endian(std::uint32_t{0x07064b50}) + std::string(4, '\0') + little_endian(offset + bytes) +
               little_endian(std::uint32_t{1});
  }
  const auto count = little_endian(static_cast<std::uint16_t>(wide ? UINT16_MAX : entries));
  return records + little_endian(std::uint32_t{0x06054b50}) + std::string(4, '\0') + count + count +
         little_endian(wide ? UINT32_MAX : static_cast<std::uint32_t>(bytes)) +
         little_endian(wide ? UINT32_MAX : static_cast<std::uint32_t>(offset)) + std::string(2, '\0');
}

}  // namespace

std::string safetensors_file(std::string header, std::string_view data) {
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return little_endian(std::uint64_t{header.size()}) + header + std::string(data);
}

std::string zip_file(const std::vector<ZipMember>& members, const ZipOptions& options) {
  std::string file;
  std::string directory;
  for (const auto& given : members) {
    const auto member = pack(given, options);
    directory += directory_entry(member, file.size(), options);
    file += entry_head(member, file.size(), options) + member.bytes;
  }
  return file + directory + end_records(members.size(), directory.size(), file.size(), options.wide);
}

namespace pickle {

std::string global(std::string_view module, std::string_view name) {
  return fmt::format("c{}\n{}\n", module, name);
}

std::string text(std::string_view value) {
  return fmt::format("X{}{}", little_endian(static_cast<std::uint32_t>(value.size())), value);
}

std::string number(std::int64_t value) {
  if (value >= 0 && value < 256) return fmt::format("K{}", little_endian(static_cast<std::uint8_t>(value)));
  if (value >= INT32_MIN && value <= INT32_MAX)
    return fmt::format("J{}", little_endian(static_cast<std::int32_t>(value)));
  return "\x8a\x08" + little_endian(value);
}

std::string tuple(const std::vector<std::string>& items) {
  std::string all = "(";
  for (const auto& item : items) all += item;
  return all + "t";
}

std::string call(const std::string& function, const std::string& arguments) {
  return function + arguments + "R";
}

std::string dictionary(const std::vector<std::string>& keys_and_values) {
  std::string all = "}(";
  for (const auto& item : keys_and_values) all += item;
  return all + "u";
}

std::string ordered_dictionary(const std::vector<std::string>& keys_and_values) {
  std::string all = call(global("collections", "OrderedDict"), ")") + "(";
  for (const auto& item : keys_and_values) all += item;
  return all + "u";
}

std::string storage(std::string_view type, std::string_view key, std::int64_t elements) {
  return tuple({text("storage"), global("torch", type), text(key), text("cpu"), number(elements)}) + "Q";
}

std::string tensor(const std::string& storage, std::int64_t offset, const std::vector<std::int64_t>& shape,
                   const std::vector<std::int64_t>& strides) {
  const auto numbers = [](const std::vector<std::int64_t>& values) {
    std::vector<std::string> items;
    for (const auto value : values) items.push_back(number(value));
    return tuple(items);
  };
  const std::string hooks = call(global("collections", "OrderedDict"), ")");
  return call(global("torch._utils", "_rebuild_tensor_v2"),
              tuple({storage, number(offset), numbers(shape), numbers(strides), "\x89", hooks}));
}

std::string list(const std::vector<std::string>& items) {
  std::string all = "](";
  for (const auto& item : items) all += item;
  return all + "e";
}

std::string object(std::string_view type, const std::vector<std::string>& attributes_and_values) {
  return global("__torch__", type) + ")\x81" + dictionary(attributes_and_values) + "b";
}

std::string whole(const std::string& value) {
  return "\x80\x02" + value + ".";
}

}  // namespace pickle

std::string torch_file(const std::string& pickle, const std::vector<std::string>& storages, const ZipOptions& options) {
  std::vector<ZipMember> members{{"archive/data.pkl", pickle}};
  for (std::size_t i = 0; i < storages.size(); ++i)
    members.push_back({"archive/data/" + std::to_string(i), storages[i]});
  members.push_back({"archive/version", "3\n"});
  return zip_file(members, options);
}

}  // namespace paretopipe::files
