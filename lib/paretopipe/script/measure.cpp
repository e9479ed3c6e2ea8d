#include <paretopipe/compute/in_mode.hpp>
#include <paretopipe/compute/multiply_accumulates.hpp>
#include <paretopipe/script/measure.hpp>
#include <paretopipe/script/slice.hpp>

#include <ATen/ops/zeros.h>

namespace paretopipe::script {

namespace {

bool is_sendable(const at::Tensor& tensor, const config::ComputeMode& mode) {
  const auto type = mode.dtype == config::Precision::bfloat16 ? at::kBFloat16 : at::kFloat;
  const bool by_pixel = mode.memory_format == config::MemoryFormat::channels_last && tensor.dim() == 4;
  const auto format = by_pixel ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  return tensor.scalar_type() == type && tensor.dim() > 0 && tensor.numel() > 0 && tensor.is_contiguous(format);
}

}  // namespace

std::vector<Measured> measure(const torch::jit::Graph& graph, const std::vector<const torch::jit::Value*>& values,
                              const std::vector<std::int64_t>& input_shape, const config::ComputeMode& mode) {
  std::vector<Measured> measured;
  auto activation = compute::in_mode(at::zeros(input_shape, at::kFloat), mode);
  const torch::jit::Value* previous = graph.inputs().at(0);
  compute::MultiplyAccumulateCounter counter;
  for (const auto* value : values) {
    activation = Slice(graph, previous, value, mode).run(std::move(activation));
    measured.push_back({.shape = activation.sizes().vec(),
                        .bytes = static_cast<std::int64_t>(activation.nbytes()),
                        .sendable = is_sendable(activation, mode),
                        .multiply_accumulates = counter.take()});
    previous = value;
  }
  return measured;
}

}  // namespace paretopipe::script
