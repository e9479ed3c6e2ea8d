#include <paretopipe/compute/files/bytes.hpp>
#include <paretopipe/compute/files/write_tensor.hpp>
#include <paretopipe/core/error.hpp>

#include <array>
#include <concepts>
#include <limits>

#include <zlib.h>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace paretopipe::files {

namespace {

/// The names of one type in the two formats.
struct TypeNames {
  DType dtype;
  std::string_view storage;  ///< the class in torch
  std::string_view safetensors;
};

constexpr std::array<TypeNames, 3> kTypes{{{DType::float32, "FloatStorage", "F32"},
                                           {DType::bfloat16, "BFloat16Storage", "BF16"},
                                           {DType::int64, "LongStorage", "I64"}}};

const TypeNames& names_of(const DenseTensor& tensor) {
  const auto layout = dense_layout(tensor.shape);
  const auto size = element_bytes(tensor.dtype);
  if (!layout || static_cast<std::size_t>(layout->elements) * size != tensor.bytes.size()) {
    throw Error(ExitCode::internal, fmt::format("a tensor of shape [{}] was to be written from {} bytes",
                                                fmt::join(tensor.shape, ", "), tensor.bytes.size()));
  }
  for (const auto& names : kTypes) {
    if (names.dtype == tensor.dtype) return names;
  }
  throw Error(ExitCode::internal, fmt::format("no file of {} can be written", to_string(tensor.dtype)));
}

template <std::integral Integer>
void append(std::string& bytes, Integer value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// The opcodes of protocol 2 that torch.save uses for one tensor (Python's pickletools.py defines them).
class Pickle {
 public:
  void global(std::string_view module, std::string_view name) { bytes_ += fmt::format("c{}\n{}\n", module, name); }

  void text(std::string_view value) {
    bytes_ += "X";
    append(bytes_, static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
  }

  void number(std::int64_t value) {
    bytes_ += "\x8a\x08";
    append(bytes_, value);
  }

  void numbers(const std::vector<std::int64_t>& values) {
    begin_tuple();
    for (const auto value : values) number(value);
    end_tuple();
  }

  void begin_tuple() { bytes_ += "("; }
  void end_tuple() { bytes_ += "t"; }
  void no() { bytes_ += "\x89"; }
  void persistent_id() { bytes_ += "Q"; }
  void call() { bytes_ += "R"; }
  void begin_items() { bytes_ += "("; }
  void set_items() { bytes_ += "u"; }

  /// Includes the stop opcode. Call last.
  std::string finish() {
    bytes_ += ".";
    return std::move(bytes_);
  }

 private:
  std::string bytes_ = "\x80\x02";
};

void append_empty_dict(Pickle& pickle) {
  pickle.global("collections", "OrderedDict");
  pickle.begin_tuple();
  pickle.end_tuple();
  pickle.call();
}

/// torch._utils._rebuild_tensor_v2(storage, offset, shape, strides, requires_grad, backward hooks)
void append_tensor(Pickle& pickle, const DenseTensor& tensor, std::size_t storage) {
  const auto storage_type = names_of(tensor).storage;
  const auto layout = dense_layout(tensor.shape).value();
  pickle.global("torch._utils", "_rebuild_tensor_v2");
  pickle.begin_tuple();
  pickle.begin_tuple();
  pickle.text("storage");
  pickle.global("torch", storage_type);
  pickle.text(std::to_string(storage));
  pickle.text("cpu");
  pickle.number(layout.elements);
  pickle.end_tuple();
  pickle.persistent_id();
  pickle.number(0);
  pickle.numbers(tensor.shape);
  pickle.numbers(layout.strides);
  pickle.no();
  append_empty_dict(pickle);
  pickle.end_tuple();
  pickle.call();
}

/// A zip archive of stored entries (PKWARE's APPNOTE 6.3), written from its first byte to its last.
class ZipWriter {
 public:
  /// The entry's bytes begin at a multiple of 64, as torch.save has them.
  void add(std::string_view name, std::string_view contents) {
    constexpr std::size_t kHeadBytes = 30;
    constexpr std::size_t kExtraHeadBytes = 4;
    constexpr std::size_t kAlignment = 64;
    const auto offset = file_.size();
    const auto before = offset + kHeadBytes + name.size() + kExtraHeadBytes;
    const auto padding = (kAlignment - before % kAlignment) % kAlignment;
    const auto what = description(name, contents, static_cast<std::uint16_t>(kExtraHeadBytes + padding));
    append(file_, std::uint32_t{0x04034b50});
    file_ += what;
    file_ += name;
    file_ += "FB";  // torch.save's name for a padding field
    append(file_, static_cast<std::uint16_t>(padding));
    file_.append(padding, 'Z');
    file_ += contents;

    append(directory_, std::uint32_t{0x02014b50});
    append(directory_, std::uint16_t{0});  // made by version
    directory_ += description(name, contents, 0);
    directory_.append(10, '\0');  // no comment, first disk, no attributes
    append(directory_, static_cast<std::uint32_t>(offset));
    directory_ += name;
    ++entries_;
  }

  /// Call last.
  std::string finish() {
    const auto offset = file_.size();
    file_ += directory_;
    append(file_, std::uint32_t{0x06054b50});
    append(file_, std::uint32_t{0});  // the one and only disk
    append(file_, entries_);
    append(file_, entries_);
    append(file_, static_cast<std::uint32_t>(directory_.size()));
    append(file_, static_cast<std::uint32_t>(offset));
    append(file_, std::uint16_t{0});  // no comment
    return std::move(file_);
  }

 private:
  /// The common part of the entry's head and its line in the directory. It contains no time, so the same tensor makes
  /// the same file.
  static std::string description(std::string_view name, std::string_view contents, std::uint16_t extra_bytes) {
    const auto crc32 = ::crc32_z(0, reinterpret_cast<const Bytef*>(contents.data()), contents.size());
    std::string bytes;
    append(bytes, std::uint16_t{0});           // version needed
    append(bytes, std::uint16_t{0});           // flags
    append(bytes, std::uint16_t{0});           // stored
    append(bytes, std::uint32_t{0x00210000});  // the first day that there is, 1 January 1980
    append(bytes, static_cast<std::uint32_t>(crc32));
    append(bytes, static_cast<std::uint32_t>(contents.size()));
    append(bytes, static_cast<std::uint32_t>(contents.size()));
    append(bytes, static_cast<std::uint16_t>(name.size()));
    append(bytes, extra_bytes);
    return bytes;
  }

  std::string file_;
  std::string directory_;
  std::uint16_t entries_ = 0;
};

std::string torch_file(const std::vector<std::string_view>& storages, const std::string& pickle) {
  constexpr std::size_t kRoom = 4096;          // for what no tensor adds
  constexpr std::size_t kRoomOfStorage = 256;  // for what each tensor adds besides its bytes
  std::size_t bytes = kRoom + pickle.size() + kRoomOfStorage * storages.size();
  for (const auto storage : storages) bytes += storage.size();
  if (bytes > std::numeric_limits<std::uint32_t>::max() ||
      storages.size() >= std::numeric_limits<std::uint16_t>::max() - 4U) {
    throw UsageError(fmt::format("{} bytes in {} tensors are too much for a .pt or .pth file here; write .safetensors",
                                 bytes, storages.size()));
  }
  ZipWriter zip;
  zip.add("archive/data.pkl", pickle);
  zip.add("archive/byteorder", "little");
  for (std::size_t i = 0; i < storages.size(); ++i) zip.add(fmt::format("archive/data/{}", i), storages[i]);
  zip.add("archive/version", "3\n");
  return zip.finish();
}

}  // namespace

std::string torch_file_of(const DenseTensor& tensor) {
  Pickle pickle;
  append_tensor(pickle, tensor, 0);
  return torch_file({text_of(tensor.bytes)}, pickle.finish());
}

std::string torch_file_of(const NamedTensors& tensors) {
  Pickle pickle;
  std::vector<std::string_view> storages;
  append_empty_dict(pickle);
  pickle.begin_items();
  for (const auto& [name, tensor] : tensors) {
    pickle.text(name);
    append_tensor(pickle, tensor, storages.size());
    storages.push_back(text_of(tensor.bytes));
  }
  pickle.set_items();
  return torch_file(storages, pickle.finish());
}

std::string safetensors_file_of(const NamedTensors& tensors) {
  auto header = nlohmann::ordered_json::object();
  std::size_t begin = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto end = begin + tensor.bytes.size();
    header[name] = {{"dtype", names_of(tensor).safetensors}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  auto text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // aligns the numbers to 8 bytes
  std::string file;
  append(file, std::uint64_t{text.size()});
  file += text;
  for (const auto& [name, tensor] : tensors) file += text_of(tensor.bytes);
  return file;
}

void check_tensor_file_name(const std::filesystem::path& file) {
  const auto ending = file.extension();
  if (ending == ".pt" || ending == ".pth" || ending == ".safetensors") return;
  throw UsageError(fmt::format("write {}: its name must end in .pt, .pth or .safetensors, the formats that there are",
                               file.string()));
}

std::string tensor_file_of(const DenseTensor& tensor, const std::filesystem::path& file) {
  check_tensor_file_name(file);
  return file.extension() == ".safetensors" ? safetensors_file_of({{"output", tensor}}) : torch_file_of(tensor);
}

std::string weights_file_of(const NamedTensors& tensors, const std::filesystem::path& file) {
  check_tensor_file_name(file);
  return file.extension() == ".safetensors" ? safetensors_file_of(tensors) : torch_file_of(tensors);
}

}  // namespace paretopipe::files
