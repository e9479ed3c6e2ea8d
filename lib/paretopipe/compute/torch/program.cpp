#include "program.hpp"

#include <iterator>
#include <utility>

#include <torch/csrc/jit/ir/constants.h>

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

/// The tensors of a graph's constant: the constant itself, or those in a list.
std::vector<at::Tensor> tensors_in(const c10::IValue& constant) {
  if (constant.isTensor()) return {constant.toTensor()};
  std::vector<at::Tensor> tensors;
  if (!constant.isList()) return tensors;
  for (const c10::IValue& element : constant.toListRef()) {
    if (element.isTensor()) tensors.push_back(element.toTensor());
  }
  return tensors;
}

}  // namespace

at::Tensor in_mode(const at::Tensor& tensor, const experiment::ComputeMode& mode) {
  if (tensor.scalar_type() != at::kFloat) return tensor;
  const auto type = mode.dtype == experiment::Precision::bfloat16 ? at::kBFloat16 : at::kFloat;
  const bool by_pixel = mode.memory_format == experiment::MemoryFormat::channels_last && tensor.dim() == 4;
  const auto format = by_pixel ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Preserve;
  return tensor.to(type, /*non_blocking=*/false, /*copy=*/false, format);
}

std::vector<torch::jit::Node*> nodes_where(torch::jit::Graph& graph, bool (*chosen)(const torch::jit::Node*)) {
  std::vector<torch::jit::Node*> nodes;
  for (auto* node : graph.nodes()) {
    if (chosen(node)) nodes.push_back(node);
  }
  return nodes;
}

void replace_constants(torch::jit::Graph& graph, const Replacement& replacement) {
  const auto is_constant = [](const torch::jit::Node* node) { return node->kind() == torch::jit::prim::Constant; };
  for (auto* node : nodes_where(graph, is_constant)) {
    const auto value = torch::jit::toIValue(node->output());
    if (!value || tensors_in(*value).empty()) continue;
    const torch::jit::WithInsertPoint before(node);
    auto* replaced = graph.insertConstant(replaced_in(*value, replacement));
    replaced->setType(node->output()->type());
    node->output()->replaceAllUsesWith(replaced);
    node->destroy();
  }
}

void constants_in_mode(torch::jit::Graph& graph, const experiment::ComputeMode& mode, at::Device device) {
  if (device.is_cpu() && mode.dtype == experiment::Precision{} && mode.memory_format == experiment::MemoryFormat{})
    return;
  replace_constants(graph, [&](const at::Tensor& tensor) { return in_mode(tensor, mode).to(device); });
}

Program::Program(std::shared_ptr<torch::jit::Graph> graph) : graph_(std::move(graph)), code_(graph_, "forward") {}

Tensors Program::run(Tensors inputs) const {
  torch::jit::Stack stack(std::make_move_iterator(inputs.begin()), std::make_move_iterator(inputs.end()));
  torch::jit::InterpreterState(code_).run(stack);
  Tensors outputs;
  for (auto& output : stack) outputs.push_back(std::move(output).toTensor());
  return outputs;
}

std::vector<at::Tensor> Program::tensors() const {
  std::vector<at::Tensor> tensors;
  for (auto* node : graph_->nodes()) {
    if (node->kind() == torch::jit::prim::ConstantMKLDNNTensor) tensors.push_back(node->t(torch::jit::attr::value));
    if (node->kind() != torch::jit::prim::Constant) continue;
    const auto value = torch::jit::toIValue(node->output());
    if (!value) continue;
    for (auto& tensor : tensors_in(*value)) tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace paretopipe::compute
