#include <paretopipe/core/error.hpp>
#include <paretopipe/model/trace.hpp>

#include <string>
#include <utility>

#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/passes/common_subexpression_elimination.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

namespace paretopipe::model {
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

}  // namespace paretopipe::model
