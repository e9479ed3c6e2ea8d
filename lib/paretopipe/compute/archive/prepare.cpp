#include "prepare.hpp"

#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <array>
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

namespace paretopipe::archive {

namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

bool is(const Node& node, std::string_view kind) {
  return node.kind().toQualString() == kind;
}

/// True if the operator reads a list's elements and keeps nothing of the list itself.
bool only_reads(const Node& node) {
  constexpr std::array<std::string_view, 5> kReaders{"aten::cat", "aten::stack", "aten::len", "aten::__getitem__",
                                                     "prim::ListUnpack"};
  return std::any_of(kReaders.begin(), kReaders.end(), [&](auto kind) { return is(node, kind); });
}

/// The list and its aliases: an append returns the list that it changed.
std::vector<Value*> names_of(Value* list) {
  std::vector<Value*> names{list};
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (const auto& use : names[i]->uses()) {
      if (is(*use.user, "aten::append") && use.offset == 0) names.push_back(use.user->output());
    }
  }
  return names;
}

/// The operators that use the list, in order; none if one of them may keep it.
std::vector<Node*> users_of(const std::vector<Value*>& names) {
  std::vector<Node*> users;
  for (const auto* name : names) {
    for (const auto& use : name->uses()) {
      const bool appends = is(*use.user, "aten::append") && use.offset == 0;
      if (!appends && !only_reads(*use.user)) return {};
      users.push_back(use.user);
    }
  }
  std::sort(users.begin(), users.end(), [](const Node* a, const Node* b) { return a != b && a->isBefore(b); });
  users.erase(std::unique(users.begin(), users.end()), users.end());
  return users;
}

void replace_inputs(Node& user, const std::vector<Value*>& names, Value* replacement) {
  for (std::size_t i = 0; i < user.inputs().size(); ++i) {
    if (std::find(names.begin(), names.end(), user.inputs()[i]) != names.end()) user.replaceInput(i, replacement);
  }
}

void rewrite(Graph& graph, Node* construction) {
  const auto names = names_of(construction->output());
  const auto users = users_of(names);
  if (names.size() == 1 || users.empty()) return;
  std::vector<Value*> elements(construction->inputs().begin(), construction->inputs().end());
  Value* current = construction->output();
  std::vector<Node*> appends;
  for (auto* user : users) {
    if (!is(*user, "aten::append")) {
      replace_inputs(*user, names, current);
      continue;
    }
    elements.push_back(user->input(1));
    auto* grown = graph.create(construction->kind(), elements, 1)->insertBefore(user);
    grown->copyMetadata(user);
    grown->output()->setType(construction->output()->type());
    current = grown->output();
    appends.push_back(user);
  }
  std::for_each(appends.rbegin(), appends.rend(), [](Node* append) { append->destroy(); });
}

}  // namespace

void rewrite_list_appends(const std::shared_ptr<Graph>& graph) {
  std::vector<Node*> constructions;
  for (auto* node : graph->nodes()) {
    if (is(*node, "prim::ListConstruct")) constructions.push_back(node);
  }
  for (auto* construction : constructions) rewrite(*graph, construction);
}

namespace {

/// True if the operator's result shares its memory with nothing else.
bool gives_new_tensor(const Node& node) {
  constexpr std::array<std::string_view, 7> kMakers{"aten::new_zeros",    "aten::new_ones", "aten::new_full",
                                                    "aten::zeros",        "aten::ones",     "aten::full",
                                                    "aten::slice_scatter"};
  return std::find(kMakers.begin(), kMakers.end(), node.kind().toQualString()) != kMakers.end();
}

/// The slices that lead from a tensor to the filled part, innermost first. Each has no other user.
std::vector<Node*> slices_of(const Node& fill) {
  std::vector<Node*> slices;
  for (auto* part = fill.input(0); part->node()->kind() == c10::aten::slice && part->uses().size() == 1;) {
    slices.push_back(part->node());
    part = part->node()->input(0);
  }
  return slices;
}

/// True if the part belongs to a new tensor that nothing but these slices has used so far.
bool is_hidden(const Node& fill, const std::vector<Node*>& slices) {
  if (slices.empty() || !fill.output()->uses().empty()) return false;
  const auto* whole = slices.back()->input(0);
  if (!gives_new_tensor(*whole->node())) return false;
  return std::all_of(whole->uses().begin(), whole->uses().end(),
                     [&](const auto& use) { return use.user == slices.back() || fill.isBefore(use.user); });
}

Value* insert_before(Node& place, const char* kind, const std::vector<Value*>& inputs) {
  auto* node = place.owningGraph()->create(c10::Symbol::fromQualString(kind), inputs, 1)->insertBefore(&place);
  node->copyMetadata(&place);
  return node->output();
}

void rewrite_fill(Node& fill) {
  const auto slices = slices_of(fill);
  if (!is_hidden(fill, slices)) return;
  auto* whole = slices.back()->input(0);
  auto* part = insert_before(fill, "aten::fill", {fill.input(0), fill.input(1)});
  for (auto* slice : slices) {
    std::vector<Value*> inputs(slice->inputs().begin(), slice->inputs().end());
    inputs.insert(inputs.begin() + 1, part);  // the other inputs say where the part is
    part = insert_before(fill, "aten::slice_scatter", inputs);
  }
  whole->replaceAllUsesAfterNodeWith(&fill, part);
  fill.destroy();
}

}  // namespace

void rewrite_slice_fills(const std::shared_ptr<Graph>& graph) {
  std::vector<Node*> fills;
  for (auto* node : graph->nodes()) {
    if (node->kind() == c10::aten::fill_) fills.push_back(node);
  }
  for (auto* fill : fills) rewrite_fill(*fill);
}

namespace {

using torch::jit::Module;
using GraphPtr = std::shared_ptr<Graph>;

/// Like Module::eval, which fails for a module without this attribute.
void set_to_evaluation(const Module& module) {
  for (Module child : module.modules()) {
    if (child.hasattr("training")) child.setattr("training", false);
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
  std::vector<Node*> warnings;
  for (auto* node : graph->nodes()) {
    if (node->kind() == c10::aten::warn) warnings.push_back(node);
  }
  for (auto* warning : warnings) warning->destroy();
}

bool is_idle_dropout(const Node& node) {
  const std::string_view kind = node.kind().toQualString();
  if (!kind.starts_with("aten::") || node.outputs().size() != 1) return false;
  if (!kind.ends_with("dropout") && !kind.ends_with("dropout_")) return false;
  return torch::jit::constant_as<double>(node.input(1)) == 0.0;
}

/// Removes dropout of probability 0. It hands its input on but counts as random in training mode, in which functions
/// that are called without a mode are traced.
void remove_idle_dropout(const GraphPtr& graph) {
  std::vector<Node*> idle;
  for (auto* node : graph->nodes()) {
    if (is_idle_dropout(*node)) idle.push_back(node);
  }
  for (auto* dropout : idle) {
    dropout->output()->replaceAllUsesWith(dropout->input(0));
    dropout->destroy();
  }
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
  torch::jit::Inline(*graph);
  torch::jit::EliminateExceptions(graph);
  torch::jit::ConstantPropagation(graph);
  torch::jit::UnrollConstantLoops(graph);
  torch::jit::ConstantPropagation(graph);
  torch::jit::LowerSimpleTuples(graph);
  remove_warnings(graph);
  remove_idle_dropout(graph);
  keep_first_tensor(graph);
  torch::jit::EliminateDeadCode(graph);
}

void remove_mutation(const GraphPtr& graph) {
  torch::jit::RemoveListMutation(graph);
  rewrite_list_appends(graph);
  rewrite_slice_fills(graph);
  torch::jit::RemoveTensorMutation(graph);
  torch::jit::PeepholeOptimize(graph);
  torch::jit::EliminateDeadCode(graph);
  torch::jit::EliminateCommonSubexpression(graph);
  torch::jit::EliminateDeadCode(graph);
}

/// Says why a graph with this operator cannot be cut; null if it can.
const char* obstacle(const Node& node) {
  if (!node.blocks().empty()) {
    return "its control flow depends on what it computes (trace the model instead of scripting it, if it need not)";
  }
  if (const auto* schema = node.maybeSchema(); schema != nullptr && schema->is_mutable()) {
    return "it overwrites a tensor or a list that is used elsewhere";
  }
  if (node.hasSideEffects()) return "it does more than to compute its result";
  if (node.isNondeterministic()) return "its result is random (was the model traced in training mode?)";
  return nullptr;
}

void check_operators(const Graph& graph) {
  for (const auto* node : graph.nodes()) {
    if (const auto* reason = obstacle(*node)) {
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

}  // namespace

PreparedModel prepare(const Module& module) {
  set_to_evaluation(module);
  if (!module.find_method("forward")) throw UsageError("the archive has no forward method");
  PreparedModel model;
  model.learnable = memory_of_parameters(module);
  model.graph = torch::jit::freeze(module, {}, /*optimize_numerics=*/false).get_method("forward").graph()->copy();
  simplify(model.graph);
  remove_mutation(model.graph);
  remove_self(model.graph);
  check_inputs(*model.graph);
  check_operators(*model.graph);
  return model;
}

}  // namespace paretopipe::archive
