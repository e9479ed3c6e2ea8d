#include <paretopipe/compute/in_mode.hpp>
#include <paretopipe/script/slice.hpp>

#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace paretopipe::script {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

/// The operators that `end` needs and `begin` does not give.
std::unordered_set<const Node*> needed_nodes(const Value* begin, const Value* end) {
  std::unordered_set<const Node*> needed;
  std::vector<const Value*> open{end};
  while (!open.empty()) {
    const auto* value = open.back();
    open.pop_back();
    if (value == begin || !needed.insert(value->node()).second) continue;
    for (const auto* input : value->node()->inputs()) open.push_back(input);
  }
  return needed;
}

using Copies = std::unordered_map<const Value*, Value*>;

/// Not Graph::createClone: that copies the stack of inlined calls too, which points to functions of the archive, and
/// they are gone when the slice is used.
Node* clone_of(Graph& graph, const Node& node, const Copies& copies) {
  auto* clone = graph.create(node.kind(), node.outputs().size());
  clone->copyAttributes(node);
  clone->setSourceRange(node.sourceRange());
  for (const auto* input : node.inputs()) clone->addInput(copies.at(input));
  for (std::size_t i = 0; i < node.outputs().size(); ++i) clone->outputs()[i]->setType(node.outputs()[i]->type());
  return clone;
}

std::shared_ptr<Graph> copy_between(const Graph& graph, const Value* begin, const Value* end,
                                    const config::ComputeMode& mode) {
  auto copy = std::make_shared<Graph>();
  Copies copies{{begin, copy->addInput()}};
  for (const auto* node : nodes_between(graph, begin, end)) {
    auto* clone = copy->appendNode(clone_of(*copy, *node, copies));
    for (std::size_t i = 0; i < node->outputs().size(); ++i) copies.emplace(node->outputs()[i], clone->outputs()[i]);
  }
  copy->registerOutput(copies.at(end));
  compute::constants_in_mode(*copy, mode);
  return copy;
}

}  // namespace

std::vector<const Node*> nodes_between(const Graph& graph, const Value* begin, const Value* end) {
  const auto needed = needed_nodes(begin, end);
  std::vector<const Node*> nodes;
  for (const auto* node : graph.nodes()) {
    if (needed.contains(node)) nodes.push_back(node);
  }
  return nodes;
}

Slice::Slice(const Graph& graph, const Value* begin, const Value* end, const config::ComputeMode& mode)
    : Program(copy_between(graph, begin, end, mode)) {}

std::shared_ptr<Graph> join(const std::vector<const Slice*>& slices) {
  auto joined = std::make_shared<Graph>();
  auto* value = joined->addInput();
  for (const auto* slice : slices) value = torch::jit::insertGraph(*joined, slice->graph(), {value}).at(0);
  joined->registerOutput(value);
  return joined;
}

}  // namespace paretopipe::script
