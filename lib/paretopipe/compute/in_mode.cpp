#include <paretopipe/compute/in_mode.hpp>

#include <vector>

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::compute {
namespace {

using Replacement = std::function<at::Tensor(const at::Tensor&)>;

/// `constant` is a tensor or a list. A list may hold tensors and, like an index, None.
c10::IValue replaced_in(const c10::IValue& constant, const Replacement& replacement) {
  if (constant.isTensor()) return replacement(constant.toTensor());
  c10::impl::GenericList replaced(constant.toList().elementType());
  for (const c10::IValue& element : constant.toListRef()) {
    replaced.push_back(element.isTensor() ? c10::IValue(replacement(element.toTensor())) : element);
  }
  return replaced;
}

}  // namespace

at::Tensor in_mode(const at::Tensor& tensor, const config::ComputeMode& mode) {
  if (tensor.scalar_type() != at::kFloat) return tensor;
  const auto type = mode.dtype == config::Precision::bfloat16 ? at::kBFloat16 : at::kFloat;
  const bool by_pixel = mode.memory_format == config::MemoryFormat::channels_last && tensor.dim() == 4;
  const auto format = by_pixel ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Preserve;
  return tensor.to(type, /*non_blocking=*/false, /*copy=*/false, format);
}

std::vector<at::Tensor> tensors_in(const c10::IValue& constant) {
  if (constant.isTensor()) return {constant.toTensor()};
  std::vector<at::Tensor> tensors;
  if (!constant.isList()) return tensors;
  for (const c10::IValue& element : constant.toListRef()) {
    if (element.isTensor()) tensors.push_back(element.toTensor());
  }
  return tensors;
}

void replace_constants(torch::jit::Graph& graph, const Replacement& replacement) {
  std::vector<torch::jit::Node*> constants;
  for (auto* node : graph.nodes()) {
    if (node->kind() == torch::jit::prim::Constant) constants.push_back(node);
  }
  for (auto* node : constants) {
    const auto value = torch::jit::toIValue(node->output());
    if (!value || tensors_in(*value).empty()) continue;
    const torch::jit::WithInsertPoint before(node);
    auto* replaced = graph.insertConstant(replaced_in(*value, replacement));
    replaced->setType(node->output()->type());
    node->output()->replaceAllUsesWith(replaced);
    node->destroy();
  }
}

void constants_in_mode(torch::jit::Graph& graph, const config::ComputeMode& mode, at::Device device) {
  if (device.is_cpu() && mode.dtype == config::Precision{} && mode.memory_format == config::MemoryFormat{}) return;
  replace_constants(graph, [&](const at::Tensor& tensor) { return in_mode(tensor, mode).to(device); });
}

}  // namespace paretopipe::compute
