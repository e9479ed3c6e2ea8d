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

std::shared_ptr<Graph> trace(const Layer& layer, const at::Tensor& example) {
  const auto run = [&](Stack inputs) {
    torch::jit::tracer::getTracingState()->warn = false;  // of what overwrites a view, which no layer uses again
    return Stack{layer(std::move(inputs.at(0)).toTensor())};
  };
  const auto no_name = [](const at::Tensor&) { return std::string(); };
  // What overwrites its operand is recorded as what does not.
  const auto traced =
      torch::jit::tracer::trace({example.clone()}, run, no_name, /*strict=*/true, /*force_outplace=*/true);
  auto graph = traced.first->graph;
  torch::jit::EliminateDeadCode(graph);
  torch::jit::EliminateCommonSubexpression(graph);
  check_without_mutation(*graph);
  return graph;
}

}  // namespace paretopipe::model
