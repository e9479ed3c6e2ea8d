#include <paretopipe/wire/errors.hpp>
#include <paretopipe/wire/tensor_spec.hpp>

#include <limits>

#include <fmt/ranges.h>

namespace paretopipe::wire {
namespace {

constexpr std::size_t kChannelsLastRank = 4;

[[noreturn]] void refuse(const TensorSpec& spec, const std::string& rule) {
  throw ProtocolError(fmt::format("{} is not a tensor: {}", to_string(spec), rule));
}

std::string dtype_name(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return "float32";
    case DType::bfloat16:
      return "bfloat16";
    case DType::int64:
      return "int64";
  }
  return fmt::format("dtype {}", static_cast<int>(dtype));
}

void check_memory_format(const TensorSpec& spec) {
  switch (spec.memory_format) {
    case MemoryFormat::contiguous:
      return;
    case MemoryFormat::channels_last:
      if (spec.shape.size() != kChannelsLastRank) refuse(spec, "channels_last needs four dimensions");
      return;
  }
  refuse(spec, "expected memory format 1 (contiguous) or 2 (channels_last)");
}

}  // namespace

std::int64_t element_size(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return 4;
    case DType::bfloat16:
      return 2;
    case DType::int64:
      return 8;
  }
  throw ProtocolError(
      fmt::format("expected dtype 1 (float32), 2 (bfloat16) or 3 (int64), got {}", static_cast<int>(dtype)));
}

std::int64_t byte_size(const TensorSpec& spec) {
  if (spec.shape.size() > kMaxRank) refuse(spec, fmt::format("at most {} dimensions are allowed", kMaxRank));
  check_memory_format(spec);
  std::int64_t bytes = element_size(spec.dtype);
  for (const auto dimension : spec.shape) {
    if (dimension < 1 || dimension > std::numeric_limits<std::uint32_t>::max()) {
      refuse(spec, "every dimension must be 1 ... 4294967295");
    }
    if (bytes > std::numeric_limits<std::int64_t>::max() / dimension) refuse(spec, "its size exceeds 2^63 - 1 bytes");
    bytes *= dimension;
  }
  return bytes;
}

std::string to_string(const TensorSpec& spec) {
  std::string text = fmt::format("{}[{}]", dtype_name(spec.dtype), fmt::join(spec.shape, "x"));
  if (spec.memory_format == MemoryFormat::channels_last) {
    text += " channels_last";
  } else if (spec.memory_format != MemoryFormat::contiguous) {
    text += fmt::format(" memory format {}", static_cast<int>(spec.memory_format));
  }
  return text;
}

}  // namespace paretopipe::wire
