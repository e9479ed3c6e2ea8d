#include "weight_files.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>
#include <support/files.hpp>
#include <unit/files/files.hpp>

namespace paretopipe::zoo {
namespace {

struct TypeNames {
  const char* in_safetensors;
  const char* of_storage;
};

TypeNames names_of(at::ScalarType type) {
  switch (type) {
    case at::kLong:
      return {"I64", "LongStorage"};
    case at::kDouble:
      return {"F64", "DoubleStorage"};
    case at::kHalf:
      return {"F16", "HalfStorage"};
    case at::kBFloat16:
      return {"BF16", "BFloat16Storage"};
    default:
      return {"F32", "FloatStorage"};
  }
}

std::string_view bytes_of(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

/// So that all numbers begin at multiples of their size.
void put_counters_first(std::vector<NamedTensor>& tensors) {
  std::ranges::stable_partition(tensors, is_counter);
}

nlohmann::json safetensors_header(const std::vector<NamedTensor>& tensors) {
  auto header = nlohmann::json::object();
  std::size_t end = 0;
  for (const auto& entry : tensors) {
    const auto begin = end;
    end += entry.tensor.nbytes();
    header[entry.name] = {{"dtype", names_of(entry.tensor.scalar_type()).in_safetensors},
                          {"shape", entry.tensor.sizes().vec()},
                          {"data_offsets", {begin, end}}};
  }
  return header;
}

}  // namespace

bool is_counter(const NamedTensor& entry) {
  return entry.tensor.scalar_type() == at::kLong;
}

void write_safetensors(const std::filesystem::path& path, std::vector<NamedTensor> tensors) {
  put_counters_first(tensors);
  std::string data;
  for (const auto& entry : tensors) data += bytes_of(entry.tensor);
  support::write_file(path, files::safetensors_file(safetensors_header(tensors).dump(), data));
}

void write_hollow_safetensors(const std::filesystem::path& path, std::vector<NamedTensor> tensors) {
  put_counters_first(tensors);
  const auto beginning = files::safetensors_file(safetensors_header(tensors).dump(), "");
  support::write_file(path, beginning);
  std::size_t bytes = beginning.size();
  for (const auto& entry : tensors) bytes += entry.tensor.nbytes();
  std::filesystem::resize_file(path, bytes);
}

void write_state_dict(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors) {
  namespace pickle = files::pickle;
  std::vector<std::string> items;
  std::vector<std::string> storages;
  for (const auto& entry : tensors) {
    const auto storage = pickle::storage(names_of(entry.tensor.scalar_type()).of_storage,
                                         std::to_string(storages.size()), entry.tensor.numel());
    items.push_back(pickle::text(entry.name));
    items.push_back(pickle::tensor(storage, 0, entry.tensor.sizes().vec(), entry.tensor.strides().vec()));
    storages.emplace_back(bytes_of(entry.tensor));
  }
  support::write_file(path, files::torch_file(pickle::whole(pickle::ordered_dictionary(items)), storages));
}

}  // namespace paretopipe::zoo
