#include "optimise.hpp"

#include <algorithm>
#include <vector>

#include <ATen/Context.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/frozen_graph_optimizations.h>
#include <torch/csrc/jit/passes/frozen_ops_to_mkldnn.h>
#include <torch/csrc/jit/passes/graph_rewrite_helper.h>

namespace paretopipe::compute {

namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
using GraphPtr = std::shared_ptr<Graph>;

/// True for values on dense tensors, as opposed to oneDNN's layouts.
bool is_dense(const Value* value) {
  const auto kind = value->node()->kind();
  return kind == torch::jit::prim::Param || kind == c10::aten::cat;
}

bool is_dilated(const Node* max_pool) {
  const auto dilation = torch::jit::toIValue(max_pool->input(4));
  return !dilation || dilation->toIntVector() != std::vector<std::int64_t>(dilation->toIntVector().size(), 1);
}

bool is_none(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  return constant && constant->isNone();
}

bool is_double(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  return constant && constant->isDouble();
}

/// oneDNN knows no divisor but the window's size, by which it also divides what ceil_mode cuts off.
bool averages_otherwise(const Node* pool) {
  using torch::jit::constant_as;
  const bool cuts_off = constant_as<bool>(pool->input(4)).value_or(true);
  const bool counts_padding = constant_as<bool>(pool->input(5)).value_or(true);
  return !is_none(pool->input(6)) || (cuts_off && counts_padding);
}

/// Pools that stay on dense tensors: oneDNN's layouts would make them slower, or throw, or compute something else.
bool is_dense_pool(const Node* node) {
  if (node->kind() == c10::aten::avg_pool2d) return is_dense(node->input(0)) || averages_otherwise(node);
  return node->kind() == c10::aten::max_pool2d && (is_dense(node->input(0)) || is_dilated(node));
}

/// Operators that LibTorch's pass takes to oneDNN's layouts although they throw there.
bool throws_in_blocked_layouts(const Node* node) {
  const auto kind = node->kind();
  if (kind == c10::aten::clamp || kind == c10::aten::hardtanh) {
    return !is_double(node->input(1)) || !is_double(node->input(2));
  }
  if (kind == c10::aten::batch_norm) return is_none(node->input(1)) || is_none(node->input(2));
  if (kind != c10::aten::gelu || node->inputs().size() < 2) return false;
  const auto approximate = torch::jit::toIValue(node->input(1));
  return !approximate || approximate->toStringRef() != "none";
}

/// oneDNN averages windows of one size only.
bool has_even_windows(const Node* adaptive_pool, const at::Tensor& input) {
  const auto sides = torch::jit::toIValue(adaptive_pool->input(1));
  if (!sides || !sides->isIntList() || input.dim() != 4) return false;
  const auto out = sides->toIntVector();
  return out.size() == 2 && out[0] > 0 && out[1] > 0 && input.size(2) % out[0] == 0 && input.size(3) % out[1] == 0;
}

/// Ends oneDNN's layouts before the operator.
void keep_dense(Graph& graph, Node* node) {
  const torch::jit::WithInsertPoint before(node);
  node->replaceInput(0, graph.insert(c10::aten::contiguous, {node->input(0)}));
}

/// The inputs of `layers` when the graph computes `examples`.
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

/// Multiplies the weight by a vector instead of a matrix with one row: 15 ms instead of 45 ms for 9216 x 4096.
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

/// LibTorch's pools take 4 to 10 times as long on a dense tensor that is not stored pixel by pixel, and oneDNN's pools
/// are no faster. Only the order in memory changes, so the result has the same bits.
void pool_by_pixel(Graph& graph, Node* pool) {
  const auto ordered = [&graph](Value* tensor, at::MemoryFormat format) {
    return graph.insert(c10::aten::contiguous, {tensor}, {{"memory_format", static_cast<std::int64_t>(format)}});
  };
  const torch::jit::WithInsertPoint before(pool);
  pool->replaceInput(0, ordered(pool->input(0), at::MemoryFormat::ChannelsLast));
  const torch::jit::WithInsertPoint after(pool->next());
  auto* const result = ordered(pool->output(), at::MemoryFormat::Contiguous);
  pool->output()->replaceAllUsesAfterNodeWith(result->node(), result);
}

bool is_linear(const Node* node) {
  return node->kind() == c10::aten::linear;
}

bool is_adaptive_pool(const Node* node) {
  return node->kind() == c10::aten::adaptive_avg_pool2d;
}

bool is_linear_or_pool(const Node* node) {
  return is_linear(node) || is_adaptive_pool(node) || is_dense_pool(node);
}

/// Makes the rewrites that depend on an operand's shape.
void choose_by_shape(const GraphPtr& graph, const Tensors& examples, bool blocked) {
  const auto layers = nodes_where(*graph, blocked ? is_linear_or_pool : is_linear);
  if (layers.empty()) return;
  const auto inputs = inputs_of(graph, layers, examples);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (is_linear(layers[i])) {
      if (inputs[i].dim() == 2 && inputs[i].size(0) == 1) multiply_vector(*graph, layers[i]);
    } else if (is_adaptive_pool(layers[i])) {
      if (!has_even_windows(layers[i], inputs[i])) keep_dense(*graph, layers[i]);
    } else if (inputs[i].dim() == 4) {
      pool_by_pixel(*graph, layers[i]);
    }
  }
}

/// oneDNN's kernel for blocked layouts supports a window wider than 7 with a stride, but not together with padding.
/// Without separate padding oneDNN would fall back to products of dense matrices, and the following pool to a plain
/// loop.
void pad_before_wide_convolution(Graph& graph, Node* convolution) {
  const auto ints = [&](std::size_t input) {
    const auto value = torch::jit::toIValue(convolution->input(input));
    return value && value->isIntList() ? value->toIntVector() : std::vector<std::int64_t>();
  };
  const auto weight = torch::jit::toIValue(convolution->input(1));
  const auto stride = ints(3);
  const auto padding = ints(4);
  const auto largest = [](const std::vector<std::int64_t>& values) {
    return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  };
  if (!weight || weight->toTensor().size(3) <= 7 || largest(stride) <= 1 || largest(padding) == 0) return;
  const torch::jit::WithInsertPoint before(convolution);
  const std::vector<std::int64_t> sides{padding.back(), padding.back(), padding.front(), padding.front()};
  convolution->replaceInput(0, graph.insert(c10::aten::constant_pad_nd, {convolution->input(0), sides, 0}));
  convolution->replaceInput(4, graph.insertConstant(std::vector<std::int64_t>{0, 0}));
}

/// Replaces the paddings "same" and "valid", which LibTorch's pass cannot read. The end gets one more than the
/// beginning if their sum is odd.
void pad_by_numbers(Graph& graph, Node* convolution) {
  const auto padding = torch::jit::toIValue(convolution->input(4));
  const auto weight = torch::jit::toIValue(convolution->input(1));
  const auto dilation = torch::jit::toIValue(convolution->input(5));
  if (!padding || !padding->isString() || !weight || !dilation) return;
  const auto steps = dilation->toIntVector();
  std::vector<std::int64_t> begin{0, 0}, end{0, 0};
  for (std::size_t i = 0; padding->toStringRef() == "same" && i < 2; ++i) {
    const auto window = weight->toTensor().size(2 + static_cast<std::int64_t>(i));
    const auto both = steps[steps.size() == 1 ? 0 : i] * (window - 1);
    begin[i] = both / 2;
    end[i] = both - begin[i];
  }
  const torch::jit::WithInsertPoint before(convolution);
  auto* input = convolution->input(0);
  if (begin != end) {
    const std::vector<std::int64_t> sides{begin[1], end[1], begin[0], end[0]};
    input = graph.insert(c10::aten::constant_pad_nd, {input, sides, 0});
    begin = {0, 0};
  }
  auto* const result =
      graph.insert(c10::aten::conv2d, {input, convolution->input(1), convolution->input(2), convolution->input(3),
                                       begin, convolution->input(5), convolution->input(6)});
  convolution->output()->replaceAllUsesWith(result);
  convolution->destroy();
}

void to_blocked_layouts(GraphPtr& graph) {
  torch::jit::graph_rewrite_helper::replaceConvolutionWithAtenConv(graph);
  const auto is_conv2d = [](const Node* node) { return node->kind() == c10::aten::conv2d; };
  for (auto* node : nodes_where(*graph, is_conv2d)) pad_by_numbers(*graph, node);
  for (auto* node : nodes_where(*graph, throws_in_blocked_layouts)) keep_dense(*graph, node);
  for (auto* node : nodes_where(*graph, is_conv2d)) pad_before_wide_convolution(*graph, node);
  torch::jit::ConvertFrozenOpsToMKLDNN(graph);
}

/// True where oneDNN's blocked layouts apply.
bool is_blocked(const experiment::ComputeMode& mode, at::Device device) {
  return device.is_cpu() && mode.dtype == experiment::Precision::float32 &&
         mode.memory_format == experiment::MemoryFormat::contiguous && at::hasMKLDNN() &&
         at::globalContext().userEnabledMkldnn();
}

}  // namespace

void optimise(GraphPtr& graph, const Tensors& examples, const experiment::ComputeMode& mode) {
  const auto device = examples.front().device();
  torch::jit::ConstantPropagation(graph);  // rewrites need constant strides and paddings
  torch::jit::OptimizeFrozenGraph(graph, /*optimize_numerics=*/true);
  constants_in_mode(*graph, mode, device);
  const bool blocked = is_blocked(mode, device);
  choose_by_shape(graph, examples, blocked);
  if (blocked) to_blocked_layouts(graph);
  torch::jit::EliminateDeadCode(graph);
}

void place(GraphPtr& graph, const experiment::ComputeMode& mode, at::Device device) {
  torch::jit::ConstantPropagation(graph);  // computes on the host what constants alone determine, as the graph asks
  constants_in_mode(*graph, mode, device);
}

}  // namespace paretopipe::compute
