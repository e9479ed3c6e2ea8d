#include "tensors.hpp"

#include <paretopipe/core/error.hpp>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

namespace paretopipe::compute {

at::ScalarType scalar_type(wire::DType dtype) {
  switch (dtype) {
    case wire::DType::float32:
      return at::kFloat;
    case wire::DType::bfloat16:
      return at::kBFloat16;
    case wire::DType::int64:
      return at::kLong;
  }
  throw Error(ExitCode::internal, fmt::format("no LibTorch type for wire type {}", static_cast<int>(dtype)));
}

at::MemoryFormat memory_format(wire::MemoryFormat format) {
  return format == wire::MemoryFormat::channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
}

namespace {

wire::DType wire_dtype(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return wire::DType::float32;
    case at::kBFloat16:
      return wire::DType::bfloat16;
    case at::kLong:
      return wire::DType::int64;
    default:
      throw Error(ExitCode::internal, fmt::format("no wire type for LibTorch's {}", at::toString(type)));
  }
}

std::vector<std::int64_t> dense_strides(const wire::TensorSpec& spec) {
  if (spec.memory_format == wire::MemoryFormat::channels_last) return c10::get_channels_last_strides_2d(spec.shape);
  std::vector<std::int64_t> strides(spec.shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = strides.size(); i-- > 0; stride *= spec.shape[i]) strides[i] = stride;
  return strides;
}

}  // namespace

at::Tensor to_tensor(stage::Activation activation) {
  const auto& spec = activation.spec;
  if (static_cast<std::int64_t>(activation.bytes.size()) != wire::byte_size(spec)) {
    throw Error(ExitCode::internal,
                fmt::format("{} with {} bytes of memory", wire::to_string(spec), activation.bytes.size()));
  }
  const auto device =
      activation.gpu < 0 ? at::Device(at::kCPU) : at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(activation.gpu));
  const auto options = at::TensorOptions(scalar_type(spec.dtype)).device(device);
  const auto strides = dense_strides(spec);
  return at::from_blob(
      activation.bytes.data(), spec.shape, strides, [owner = activation.owner](void*) {}, options);
}

Tensors to_tensors(stage::Activation activation) {
  const auto others = std::move(activation.others);
  Tensors tensors;
  tensors.push_back(to_tensor(std::move(activation)));
  for (const auto& other : others) tensors.push_back(to_tensor(other));
  return tensors;
}

stage::Activation to_activation(at::Tensor tensor, wire::MemoryFormat format) {
  stage::Activation activation;
  tensor = tensor.contiguous(memory_format(format));
  activation.spec.memory_format = format;
  activation.spec.dtype = wire_dtype(tensor.scalar_type());
  activation.spec.shape = tensor.sizes().vec();
  if (!tensor.is_cpu()) activation.gpu = static_cast<int>(tensor.get_device());
  activation.bytes = {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()};
  activation.owner = std::make_shared<at::Tensor>(std::move(tensor));
  return activation;
}

stage::Activation to_activation(Tensors tensors, const experiment::ComputeMode& mode) {
  const auto in_order = [&](at::Tensor& tensor) {
    const auto spec = stage::activation_spec(mode, tensor.sizes().vec());
    return to_activation(std::move(tensor), spec.memory_format);
  };
  auto activation = in_order(tensors.front());
  for (std::size_t i = 1; i < tensors.size(); ++i) activation.others.push_back(in_order(tensors[i]));
  return activation;
}

stage::Activation allocate_activation(const wire::TensorSpec& spec) {
  const auto options = at::TensorOptions(scalar_type(spec.dtype));
  return to_activation(at::empty(spec.shape, options, memory_format(spec.memory_format)), spec.memory_format);
}

}  // namespace paretopipe::compute
