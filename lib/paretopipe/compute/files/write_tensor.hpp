#pragma once
#include <paretopipe/compute/files/stored_tensor.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

// Dense tensors as the bytes of a file that Python reads. Nothing here accesses the disk.
namespace paretopipe::files {

/// A tensor without gaps, in the order of its shape.
struct DenseTensor {
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  ///< exactly as many as dtype and shape say
};

/// The bytes that torch.save(tensor, FILE) writes; torch.load reads them, also with weights_only. Supports float32,
/// bfloat16 and int64. Throws UsageError for 4 GiB or more, which this zip format cannot express.
std::string torch_file_of(const DenseTensor& tensor);

/// Tensors under their names, in this order.
using NamedTensors = std::vector<std::pair<std::string, DenseTensor>>;

/// The bytes that torch.save writes for a state_dict, which is an OrderedDict of tensors. Throws likewise.
std::string torch_file_of(const NamedTensors& tensors);

/// The safetensors format. Supports the same types.
std::string safetensors_file_of(const NamedTensors& tensors);

/// Throws UsageError for a file name that does not end in .pt, .pth or .safetensors.
void check_tensor_file_name(const std::filesystem::path& file);

/// A file's bytes in the format of its name. In safetensors the tensor is called "output". Throws as the others do.
std::string tensor_file_of(const DenseTensor& tensor, const std::filesystem::path& file);

/// A model's weights in the format of the file's name. Throws as the others do.
std::string weights_file_of(const NamedTensors& tensors, const std::filesystem::path& file);

}  // namespace paretopipe::files
