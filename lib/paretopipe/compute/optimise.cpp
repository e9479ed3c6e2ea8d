#include <paretopipe/compute/in_mode.hpp>
#include <paretopipe/compute/optimise.hpp>

#include <vector>

#include <ATen/Context.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/frozen_graph_optimizations.h>
#include <torch/csrc/jit/passes/frozen_ops_to_mkldnn.h>

namespace paretopipe::compute {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
using GraphPtr = std::shared_ptr<Graph>;

std::vector<Node*> linear_layers(Graph& graph) {
  std::vector<Node*> layers;
  for (auto* node : graph.nodes()) {
    if (node->kind() == c10::aten::linear) layers.push_back(node);
  }
  return layers;
}

/// What the layers get as their input when the graph computes `examples`.
std::vector<at::Tensor> inputs_of(const GraphPtr& graph, const std::vector<Node*>& layers, const Tensors& examples) {
  const auto results = graph->outputs().vec();
  for (std::size_t i = 0; i < results.size(); ++i) graph->eraseOutput(0);
  for (const auto* layer : layers) graph->registerOutput(layer->input(0));
  torch::jit::Stack stack(examples.begin(), examples.end());
  torch::jit::InterpreterState(torch::jit::Code(graph, "forward")).run(stack);
  for (std::size_t i = 0; i < layers.size(); ++i) graph->eraseOutput(0);
  for (auto* result : results) graph->registerOutput(result);
  std::vector<at::Tensor> inputs;
  for (const auto& value : stack) inputs.push_back(value.toTensor());
  return inputs;
}

/// 9216 x 4096 takes 45 ms as a product of matrices, and 15 ms so.
void multiply_vector(Graph& graph, Node* layer) {
  const torch::jit::WithInsertPoint before(layer);
  auto* const row = graph.insert(c10::aten::squeeze, {layer->input(0), 0});
  auto* const weight = layer->input(1);
  auto* const bias = layer->input(2);
  auto* const product = bias->type()->kind() == c10::TypeKind::NoneType
                            ? graph.insert(c10::aten::mv, {weight, row})
                            : graph.insert(c10::aten::addmv, {bias, weight, row});
  layer->output()->replaceAllUsesWith(graph.insert(c10::aten::unsqueeze, {product, 0}));
  layer->destroy();
}

void multiply_vectors(const GraphPtr& graph, const Tensors& examples) {
  const auto layers = linear_layers(*graph);
  if (layers.empty()) return;
  const auto inputs = inputs_of(graph, layers, examples);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (inputs[i].dim() == 2 && inputs[i].size(0) == 1) multiply_vector(*graph, layers[i]);
  }
}

/// What oneDNN's blocked layouts are for.
bool is_blocked(const config::ComputeMode& mode, at::Device device) {
  return device.is_cpu() && mode.dtype == config::Precision::float32 &&
         mode.memory_format == config::MemoryFormat::contiguous && at::hasMKLDNN() &&
         at::globalContext().userEnabledMkldnn();
}

}  // namespace

void optimise(GraphPtr& graph, const Tensors& examples, const config::ComputeMode& mode) {
  const auto device = examples.front().device();
  torch::jit::ConstantPropagation(graph);  // operators are only rewritten whose strides and paddings are constants
  torch::jit::OptimizeFrozenGraph(graph, /*optimize_numerics=*/true);
  constants_in_mode(*graph, mode, device);
  multiply_vectors(graph, examples);
  if (is_blocked(mode, device)) torch::jit::ConvertFrozenOpsToMKLDNN(graph);
  torch::jit::EliminateDeadCode(graph);
}

void place(GraphPtr& graph, const config::ComputeMode& mode, at::Device device) {
  torch::jit::ConstantPropagation(graph);  // what is made of nothing but constants was asked for on the host
  constants_in_mode(*graph, mode, device);
}

}  // namespace paretopipe::compute
