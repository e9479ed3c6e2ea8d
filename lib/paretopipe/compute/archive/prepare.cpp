#include "prepare.hpp"

#include <paretopipe/compute/torch/program.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/common_subexpression_elimination.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/passes/loop_unrolling.h>
#include <torch/csrc/jit/passes/lower_tuples.h>
#include <torch/csrc/jit/passes/peephole.h>
#include <torch/csrc/jit/passes/remove_exceptions.h>
#include <torch/csrc/jit/passes/remove_mutation.h>

#include "node_names.hpp"
#include "rewrite_mutation.hpp"
#include "state_inputs.hpp"

namespace paretopipe::archive {

namespace {

using torch::jit::Graph;
using torch::jit::Module;
using torch::jit::Node;
using torch::jit::Value;
using GraphPtr = std::shared_ptr<Graph>;

/// Like Module::train and Module::eval, which fail for a module without this attribute.
void set_training(const Module& module, bool training) {
  for (Module child : module.modules()) {
    if (child.hasattr("training")) child.setattr("training", training);
  }
}

/// The addresses of the parameters. Freezing keeps them, because it shares the parameters' memory with the module.
std::unordered_set<const void*> memory_of_parameters(const Module& module) {
  std::unordered_set<const void*> memory;
  for (const auto& parameter : module.parameters()) memory.insert(parameter.data_ptr());
  return memory;
}

/// Removes warnings. They compute nothing but count as side effects, so no pass removes them.
void remove_warnings(const GraphPtr& graph) {
  const auto is_warning = [](const Node* node) { return node->kind() == c10::aten::warn; };
  for (auto* warning : compute::nodes_where(*graph, is_warning)) warning->destroy();
}

bool is_idle_dropout(const Node* node) {
  const std::string_view kind = node->kind().toQualString();
  if (!kind.starts_with("aten::") || node->outputs().size() != 1) return false;
  if (!kind.ends_with("dropout") && !kind.ends_with("dropout_")) return false;
  return torch::jit::constant_as<double>(node->input(1)) == 0.0;
}

/// Removes dropout of probability 0. It hands its input on, but counts as random in training mode. Functions that are
/// called without a mode are traced in that mode.
void remove_idle_dropout(const GraphPtr& graph) {
  for (auto* dropout : compute::nodes_where(*graph, is_idle_dropout)) {
    dropout->output()->replaceAllUsesWith(dropout->input(0));
    dropout->destroy();
  }
}

bool only_computes(const Node& node) {
  const auto* schema = node.maybeSchema();
  if (node.hasSideEffects() || (schema != nullptr && schema->is_mutable())) return false;
  const auto& blocks = node.blocks();
  return std::all_of(blocks.begin(), blocks.end(), [](const auto* block) {
    return std::all_of(block->nodes().begin(), block->nodes().end(),
                       [](const auto* inner) { return only_computes(*inner); });
  });
}

/// Removes loops whose results nothing uses, such as those of checks whose exceptions were removed. LibTorch's
/// elimination of dead code keeps them.
void remove_idle_loops(const GraphPtr& graph) {
  const auto is_plain_loop = [](const Node* node) { return node->kind() == c10::prim::Loop && only_computes(*node); };
  const auto loops = compute::nodes_where(*graph, is_plain_loop);
  std::for_each(loops.rbegin(), loops.rend(), [](Node* loop) {
    if (!loop->hasUses()) loop->destroy();
  });
}

/// Removes the frozen module, which remains as an unused input.
void remove_self(const GraphPtr& graph) {
  if (graph->inputs().empty() || !graph->inputs().front()->type()->cast<c10::ClassType>()) return;
  const auto* self = graph->inputs().front();
  if (!self->uses().empty()) {
    throw UsageError(fmt::format("the model keeps a state that changes while it computes: {}",
                                 describe_node(*self->uses().front().user)));
  }
  graph->eraseInput(0);
}

Value* first_tensor(Value* result) {
  if (result->type()->isSubtypeOf(*c10::TensorType::get())) return result;
  if (result->node()->kind() == c10::prim::TupleConstruct) {
    for (auto* element : result->node()->inputs()) {
      if (auto* tensor = first_tensor(element)) return tensor;
    }
  }
  return nullptr;
}

void keep_first_tensor(const GraphPtr& graph) {
  auto* result = graph->outputs().at(0);
  auto* tensor = first_tensor(result);
  if (tensor == nullptr) {
    throw UsageError(fmt::format("the model gives {} and no tensor: {}", result->type()->repr_str(),
                                 describe_node(*result->node())));
  }
  if (tensor == result) return;
  graph->eraseOutput(0);
  graph->registerOutput(tensor);
}

void simplify(GraphPtr& graph) {
  torch::jit::ConstantPropagation(graph);
  torch::jit::UnrollConstantLoops(graph);
  torch::jit::ConstantPropagation(graph);
  torch::jit::LowerSimpleTuples(graph);
  remove_warnings(graph);
  remove_idle_dropout(graph);
  keep_first_tensor(graph);
  torch::jit::EliminateDeadCode(graph);
  remove_idle_loops(graph);
  torch::jit::EliminateDeadCode(graph);
}

void remove_mutation(const GraphPtr& graph) {
  torch::jit::RemoveListMutation(graph);
  rewrite_list_appends(graph);
  rewrite_slice_fills(graph);
  torch::jit::RemoveTensorMutation(graph);
  torch::jit::PeepholeOptimize(graph);
  torch::jit::EliminateDeadCode(graph);
}

/// A batch norm that was traced in training mode. Optimising would take it for one in evaluation mode.
bool averages_over_batch(const Node& node) {
  if (node.kind() != c10::aten::batch_norm || torch::jit::constant_as<bool>(node.input(5)) != true) return false;
  const auto mean = torch::jit::toIValue(node.input(3));
  return !mean || !mean->isNone();
}

/// Says why a graph with this operator cannot be cut; null if it can.
const char* obstacle(const Node& node, Use use) {
  if (!node.blocks().empty()) {
    return "its control flow depends on what it computes (trace the model instead of scripting it, if it need not)";
  }
  if (const auto* schema = node.maybeSchema(); schema != nullptr && schema->is_mutable()) {
    return "it overwrites a tensor or a list that is used elsewhere";
  }
  if (node.hasSideEffects()) return "it does more than to compute its result";
  const auto flag = training_flag(node);
  if (flag && use == Use::to_train) return nullptr;  // a dropout
  if (averages_over_batch(node)) return "it averages over the batch (was the model traced in training mode?)";
  if (flag && torch::jit::constant_as<bool>(node.input(*flag)) == false) return nullptr;  // one that does nothing
  if (node.isNondeterministic()) return "its result is random (was the model traced in training mode?)";
  return nullptr;
}

void check_operators(const Graph& graph, Use use) {
  for (const auto* node : graph.nodes()) {
    if (const auto* reason = obstacle(*node, use)) {
      throw UsageError(fmt::format("{} is in the way of a cut: {}", describe_node(*node), reason));
    }
  }
}

void check_inputs(const Graph& graph) {
  if (graph.inputs().size() == 1 && graph.inputs().front()->type()->isSubtypeOf(*c10::TensorType::get())) return;
  std::vector<std::string> types;
  for (const auto* input : graph.inputs()) types.push_back(input->type()->repr_str());
  throw UsageError(fmt::format("the model takes ({}), and only one tensor can be given to it", fmt::join(types, ", ")));
}

void inline_calls(GraphPtr& graph) {
  torch::jit::Inline(*graph);
  torch::jit::EliminateExceptions(graph);
}

void check_interface(const GraphPtr& graph, Use use) {
  remove_self(graph);
  check_inputs(*graph);
  check_operators(*graph, use);
}

GraphPtr graph_to_infer(const Module& module) {
  auto graph = torch::jit::freeze(module, {}, /*optimize_numerics=*/false).get_method("forward").graph()->copy();
  inline_calls(graph);
  simplify(graph);
  remove_mutation(graph);
  torch::jit::EliminateCommonSubexpression(graph);
  torch::jit::EliminateDeadCode(graph);
  check_interface(graph, Use::to_infer);
  return graph;
}

/// Does not merge equal operators: each has a gradient of its own, and the sum of the gradients depends on the order.
void prepare_to_train(const Module& module, PreparedModel& model) {
  auto graph = module.get_method("forward").graph()->copy();
  inline_calls(graph);
  StateInputs state(graph, module);
  torch::jit::PeepholeOptimize(graph);
  simplify(graph);
  switch_to_training(*graph);
  check_weights(*graph);
  state.make_constants();
  remove_mutation(graph);  // in a graph whose inputs might all share their memory, it would find less
  check_interface(graph, Use::to_train);
  model.graph = graph;
  model.state = state.tensors();
}

}  // namespace

PreparedModel prepare(const Module& module, Use use) {
  set_training(module, use == Use::to_train);
  if (!module.find_method("forward")) throw UsageError("the archive has no forward method");
  PreparedModel model;
  model.learnable = memory_of_parameters(module);
  if (use == Use::to_train) {
    prepare_to_train(module, model);
  } else {
    model.graph = graph_to_infer(module);
  }
  return model;
}

}  // namespace paretopipe::archive
