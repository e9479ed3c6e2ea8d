#pragma once
#include <paretopipe/compute/files/stored_tensor.hpp>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Files of weights, written byte by byte: good ones, and ones that no honest program writes.
namespace paretopipe::files {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

template <class Integer>
std::string little_endian(Integer value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

template <class Element>
std::string elements(const std::vector<Element>& values) {
  std::string bytes;
  for (const auto value : values) bytes += little_endian(value);
  return bytes;
}

template <class Element>
Element element(const StoredTensor& tensor, std::size_t index) {
  Element value{};
  std::memcpy(&value, tensor.bytes.subspan(index * sizeof(Element), sizeof(Element)).data(), sizeof(Element));
  return value;
}

/// The header is padded with spaces so that the data begin at a multiple of 8, as the format's own library does.
std::string safetensors_file(std::string header, std::string_view data);

struct ZipMember {
  std::string name;
  std::string bytes;
};

inline constexpr std::uint16_t kDeflated = 8;

struct ZipOptions {
  bool wide = false;           ///< with the 64-bit records, and every size in them
  std::uint16_t method = 0;    ///< of compression; all but kDeflated only say so
  std::uint16_t flags = 0;     ///< as the directory says them
  std::size_t alignment = 64;  ///< of each member's bytes
};

std::string zip_file(const std::vector<ZipMember>& members, const ZipOptions& options = {});

/// The opcodes that PyTorch writes, in the order in which it writes them.
namespace pickle {

std::string global(std::string_view module, std::string_view name);
std::string text(std::string_view value);
std::string number(std::int64_t value);
std::string tuple(const std::vector<std::string>& items);
std::string call(const std::string& function, const std::string& arguments);
std::string dictionary(const std::vector<std::string>& keys_and_values);
std::string ordered_dictionary(const std::vector<std::string>& keys_and_values);
std::string storage(std::string_view type, std::string_view key, std::int64_t elements);
std::string tensor(const std::string& storage, std::int64_t offset, const std::vector<std::int64_t>& shape,
                   const std::vector<std::int64_t>& strides);
std::string list(const std::vector<std::string>& items);
std::string object(std::string_view type, const std::vector<std::string>& attributes_and_values);  ///< of an archive
std::string whole(const std::string& value);  ///< with its frame: the protocol, and the stop

}  // namespace pickle

/// The archive of torch.save around a pickle and its storages, which are named "0", "1", ...
std::string torch_file(const std::string& pickle, const std::vector<std::string>& storages,
                       const ZipOptions& options = {});

}  // namespace paretopipe::files
