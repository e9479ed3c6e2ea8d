#pragma once
#include <paretopipe/weights/stored_tensor.hpp>

#include <filesystem>
#include <string>

// One dense tensor as the bytes of a file that Python reads. Nothing here touches the disk.
namespace paretopipe::weights {

/// A tensor without gaps, in the order of its shape.
struct DenseTensor {
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  ///< exactly as many as dtype and shape say
};

/// What torch.save(tensor, FILE) writes: torch.load reads it, with weights_only too. The bytes of float32, bfloat16
/// and int64 tensors can be written. Throws UsageError for one of 4 GiB or more, which the zip here has no numbers for.
std::string torch_file_of(const DenseTensor& tensor);

/// The safetensors format, with the tensor under that name. Same types.
std::string safetensors_file_of(const DenseTensor& tensor, const std::string& name);

/// Throws UsageError for a file whose name ends neither in .pt or .pth nor in .safetensors: the formats there are.
void check_tensor_file_name(const std::filesystem::path& file);

/// In the format that the name asks for; in safetensors it is called "output". Throws as the others do.
std::string tensor_file_of(const DenseTensor& tensor, const std::filesystem::path& file);

}  // namespace paretopipe::weights
