#include "archive_model.hpp"

#include <paretopipe/compute/torch/with_libtorch.hpp>
#include <paretopipe/core/hash.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <sstream>

#include <ATen/ops/from_blob.h>
#include <c10/core/CPUAllocator.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/csrc/jit/serialization/storage_context.h>

// LibTorch accepts given storages, instead of reading them, only when it loads torch.package's files, in which several
// modules share their storages. So it gets such a file, built in memory, with one module and no storage in it.
namespace paretopipe::archive {

namespace {

/// The number of elements from the tensor's first to its last, including those in between that are not the tensor's.
std::int64_t extent_of(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return 0;
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) last += (tensor.size(i) - 1) * tensor.stride(i);
  return last + 1;
}

}  // namespace

at::Tensor OwnTensors::own(const at::Tensor& tensor) {
  if (tensor.layout() != at::kStrided || tensor.is_quantized()) return tensor;
  const auto bytes = file_->bytes();
  const auto* first = static_cast<const std::byte*>(tensor.data_ptr());
  if (first < bytes.data() || first >= bytes.data() + bytes.size()) return tensor;
  const auto extent = extent_of(tensor);
  const Place place{first, extent * static_cast<std::int64_t>(tensor.element_size())};
  auto found = copies_.find(place);
  if (found == copies_.end()) {
    const auto numbers = at::from_blob(tensor.data_ptr(), {extent}, tensor.options());
    found = copies_.emplace(place, numbers.clone()).first;
  }
  return found->second.view(tensor.scalar_type()).as_strided(tensor.sizes(), tensor.strides());
}

namespace {

using caffe2::serialize::PyTorchStreamReader;
using caffe2::serialize::PyTorchStreamWriter;
using Storages = torch::jit::DeserializationStorageContext;

constexpr const char* kModule = "0";                          // the module's name in the package
constexpr const char* kModuleFolder = ".data/ts_code/0/";     // the pickles in a package
constexpr const char* kPackagedCode = ".data/ts_code/code/";  // the code of all modules in a package

/// True if the bytes are aligned for any element type. Archives' writers ensure that they are.
bool is_aligned(files::Bytes bytes) {
  constexpr std::uintptr_t kLargestElement = 16;  // complex128
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % kLargestElement == 0;
}

c10::DataPtr copied(files::Bytes bytes) {
  if (bytes.empty()) return {nullptr, c10::Device(c10::kCPU)};
  auto memory = c10::GetCPUAllocator()->allocate(bytes.size());
  std::memcpy(memory.get(), bytes.data(), bytes.size());
  return memory;
}

/// Shares the file's pages, which keep the file mapped.
c10::DataPtr shared(files::Bytes bytes, const Container& container) {
  using File = std::shared_ptr<const files::MappedFile>;
  auto owner = std::make_unique<File>(container.file);
  return {const_cast<std::byte*>(bytes.data()), owner.release(),
          [](void* file) { std::unique_ptr<File>(static_cast<File*>(file)).reset(); }, c10::Device(c10::kCPU)};
}

c10::Storage storage_of(files::Bytes bytes, const Container& container) {
  return {c10::Storage::use_byte_size_t(), bytes.size(), is_aligned(bytes) ? shared(bytes, container) : copied(bytes),
          /*allocator=*/nullptr, /*resizable=*/false};
}

/// A package names the storages of constants and attributes in one namespace, but an archive numbers each separately.
/// The constants' digits become as many letters, so that nothing in the pickle moves.
std::string name_of_constant(std::string key) {
  for (auto& letter : key) {
    if (letter >= '0' && letter <= '9') letter = static_cast<char>('a' + (letter - '0'));
  }
  return key;
}

std::shared_ptr<Storages> storages_of(const Container& container) {
  auto storages = std::make_shared<Storages>();
  const auto add_once = [&](const std::string& name, files::Bytes bytes) {
    if (!storages->hasStorage(name)) storages->addStorage(name, storage_of(bytes, container));
  };
  for (const auto& [key, position, bytes] : container.storages_of_constants) add_once(name_of_constant(key), bytes);
  for (const auto& [key, position, bytes] : container.storages_of_data) add_once(key, bytes);
  return storages;
}

std::string rename_constants(std::string pickle, const std::vector<Storage>& storages) {
  for (const auto& storage : storages) {
    pickle.replace(storage.key_position, storage.key.size(), name_of_constant(storage.key));
  }
  return pickle;
}

std::string name_in_package(const std::string& name) {
  if (name.ends_with(".pkl")) return kModuleFolder + name;
  if (!name.starts_with(kCodeFolder)) return name;
  return kPackagedCode + name.substr(kCodeFolder.size());
}

std::string package_of(const Container& container) {
  std::string package;
  PyTorchStreamWriter writer([&](const void* bytes, std::size_t count) {
    package.append(static_cast<const char*>(bytes), count);
    return count;
  });
  for (const auto& [name, text] : container.texts) {
    const auto renamed = name == kConstantsPickle ? rename_constants(text, container.storages_of_constants) : text;
    writer.writeRecord(name_in_package(name), renamed.data(), renamed.size());
  }
  writer.writeEndOfFile();
  return package;
}

/// Loads the archive's module on the CPU. Its tensors are in the mapped file, which they keep alive: a page is read
/// when it is touched, and can be released (MappedFile::forget). torch::jit::load would read all of them instead.
/// Unaligned tensors, which no archive's writer makes, are copied. Throws what LibTorch throws for what it cannot
/// import.
torch::jit::Module import_module(const Container& container) {
  std::istringstream package(package_of(container));
  return torch::jit::import_ir_module(std::make_shared<torch::jit::CompilationUnit>(),
                                      std::make_shared<PyTorchStreamReader>(&package), storages_of(container),
                                      c10::Device(c10::kCPU), kModule);
}

ArchiveModel model_of(const Container& container, const experiment::Archive& archive) {
  const auto use = archive.trained ? Use::to_train : Use::to_infer;
  ArchiveModel model{container.file, prepare(import_module(container), use), {}};
  auto& graph = *model.prepared.graph;
  model.cuts = find_cuts(graph, archive.max_crossing);
  model.cuts.push_back({graph.outputs().at(0)});
  model.forget_file();
  return model;
}

}  // namespace

ArchiveModel load_archive(const std::filesystem::path& file, const experiment::Archive& archive) {
  const auto container = open_container(file);
  if (sha256_of_file(file) != archive.sha256) {
    throw UsageError(fmt::format("{} has changed since the sweep began; measure it anew", file.string()));
  }
  const auto load = [&] {
    try {
      return model_of(container, archive);
    } catch (const UsageError& error) {
      throw UsageError(
          fmt::format("{} cannot be {}: {}", file.string(), archive.trained ? "trained" : "cut", error.what()));
    }
  };
  return compute::with_libtorch(fmt::format("load {}", file.string()), load, ExitCode::usage);
}

}  // namespace paretopipe::archive
