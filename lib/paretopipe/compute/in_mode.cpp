#include <paretopipe/compute/in_mode.hpp>

#include <vector>

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::compute {
namespace {

c10::List<at::Tensor> in_mode(const std::vector<at::Tensor>& tensors, const config::ComputeMode& mode,
                              at::Device device) {
  c10::List<at::Tensor> converted;
  for (const auto& tensor : tensors) converted.push_back(compute::in_mode(tensor, mode).to(device));
  return converted;
}

}  // namespace

at::Tensor in_mode(const at::Tensor& tensor, const config::ComputeMode& mode) {
  if (tensor.scalar_type() != at::kFloat) return tensor;
  const auto type = mode.dtype == config::Precision::bfloat16 ? at::kBFloat16 : at::kFloat;
  const bool by_pixel = mode.memory_format == config::MemoryFormat::channels_last && tensor.dim() == 4;
  const auto format = by_pixel ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Preserve;
  return tensor.to(type, /*non_blocking=*/false, /*copy=*/false, format);
}

void constants_in_mode(torch::jit::Graph& graph, const config::ComputeMode& mode, at::Device device) {
  if (device.is_cpu() && mode.dtype == config::Precision{} && mode.memory_format == config::MemoryFormat{}) return;
  std::vector<torch::jit::Node*> constants;
  for (auto* node : graph.nodes()) {
    if (node->kind() == torch::jit::prim::Constant) constants.push_back(node);
  }
  for (auto* node : constants) {
    const auto value = torch::jit::toIValue(node->output());
    if (!value || !(value->isTensor() || value->isTensorList())) continue;
    const torch::jit::WithInsertPoint before(node);
    auto* converted = value->isTensor() ? graph.insertConstant(in_mode(value->toTensor(), mode).to(device))
                                        : graph.insertConstant(in_mode(value->toTensorVector(), mode, device));
    node->output()->replaceAllUsesWith(converted);
    node->destroy();
  }
}

}  // namespace paretopipe::compute
