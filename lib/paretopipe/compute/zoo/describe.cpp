#include "describe.hpp"

#include <paretopipe/compute/torch/multiply_accumulates.hpp>
#include <paretopipe/compute/torch/program.hpp>
#include <paretopipe/core/error.hpp>

#include <string>
#include <utility>

#include <ATen/ops/zeros.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/passes/common_subexpression_elimination.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

namespace paretopipe::zoo {

namespace {

/// Describes for a whole batch what crosses the cut after a block; `crossing` holds one image's.
void describe_crossing(const compute::Tensors& crossing, int batch, experiment::BlockDescription& block) {
  for (const auto& tensor : crossing) {
    auto shape = tensor.sizes().vec();
    shape.at(0) *= batch;
    block.activation_bytes += static_cast<std::int64_t>(tensor.nbytes()) * batch;
    if (&tensor == &crossing.front()) {
      block.output_shape = std::move(shape);
    } else {
      block.other_shapes.push_back(std::move(shape));
    }
  }
}

}  // namespace

experiment::ModelDescription describe_model(const Model& model, std::int64_t num_classes, int batch,
                                            const experiment::ComputeMode& mode) {
  if (batch < 1) throw UsageError(fmt::format("a batch has at least one image, not {}", batch));
  if (num_classes < 1) throw UsageError(fmt::format("a classifier has at least one class, not {}", num_classes));
  const auto input = at::zeros(model.input_shape(1), model.input_type());
  experiment::ModelDescription description;
  description.model = model.name;
  description.batch = batch;
  description.input_shape = model.input_shape(batch);
  description.input_bytes = static_cast<std::int64_t>(input.nbytes()) * batch;
  compute::Tensors crossing{compute::in_mode(input, mode)};
  compute::MultiplyAccumulateCounter counter;
  const auto plans = model.plan(num_classes);
  for (const auto& plan : plans) {
    const auto block = build_block(model.name, plan, std::nullopt, mode);
    crossing = block.forward(std::move(crossing));
    if (&plan == &plans.back()) crossing.front() = crossing.front().to(at::kFloat);  // as results are
    description.blocks.push_back({.name = block.name,
                                  .output_shape = {},
                                  .parameters = block.parameters(),
                                  .parameter_bytes = block.parameter_bytes(),
                                  .multiply_accumulates = counter.take() * batch});
    describe_crossing(crossing, batch, description.blocks.back());
  }
  return description;
}

namespace {

using torch::jit::Graph;
using torch::jit::Stack;

void check_without_mutation(const Graph& graph) {
  for (const auto* node : graph.nodes()) {
    const auto* schema = node->maybeSchema();
    if (schema == nullptr || !schema->is_mutable()) continue;
    throw Error(ExitCode::internal,
                fmt::format("{} was traced, which overwrites its operand", node->kind().toQualString()));
  }
}

}  // namespace

std::shared_ptr<Graph> trace(const Forward& forward, const compute::Tensors& examples) {
  const auto run = [&](Stack inputs) {
    torch::jit::tracer::getTracingState()->warn = false;  // warns of overwritten views, which no layer uses again
    compute::Tensors crossing;
    for (auto& input : inputs) crossing.push_back(std::move(input).toTensor());
    const auto outputs = forward(std::move(crossing));
    return Stack(outputs.begin(), outputs.end());
  };
  Stack inputs;
  for (const auto& example : examples) inputs.emplace_back(example.clone());
  const auto no_name = [](const at::Tensor&) { return std::string(); };
  // In-place operators are recorded as their out-of-place versions.
  const auto traced =
      torch::jit::tracer::trace(std::move(inputs), run, no_name, /*strict=*/true, /*force_outplace=*/true);
  auto graph = traced.first->graph;
  torch::jit::EliminateDeadCode(graph);
  torch::jit::EliminateCommonSubexpression(graph);
  check_without_mutation(*graph);
  return graph;
}

}  // namespace paretopipe::zoo
