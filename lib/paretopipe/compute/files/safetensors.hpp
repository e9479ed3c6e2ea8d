#pragma once
#include <paretopipe/compute/files/stored_tensor.hpp>

namespace paretopipe::files {

/// True if the file begins like a safetensors file: the length of a header, then its opening brace.
bool looks_like_safetensors(std::span<const std::byte> file);

/// The tensors of a file in the safetensors format (https://github.com/huggingface/safetensors#format): the length of
/// the header as 64 bits; the header, a JSON object from names to dtype, shape and byte range behind the header; then
/// those bytes. Reads only the header; there are no checksums. The result refers to `file`.
///
/// Throws UsageError, a sentence without the file's name, for anything that the format does not allow: truncation, JSON
/// that is not strict, an unknown or missing key, a repeated name, and a range that overlaps another, leaves a gap,
/// ends outside the file, has another length than dtype and shape say, or begins where its elements cannot. Also for a
/// dtype that PyTorch 1.13 lacks.
TensorMap read_safetensors(std::span<const std::byte> file);

}  // namespace paretopipe::files
