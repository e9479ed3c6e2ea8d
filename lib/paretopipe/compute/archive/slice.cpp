#include "slice.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace paretopipe::archive {

namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

/// The operators that `end` needs and that are not before `begin`.
std::unordered_set<const Node*> needed_nodes(const Cut& begin, const Cut& end) {
  std::unordered_set<const Node*> needed;
  auto open = end;
  while (!open.empty()) {
    const auto* value = open.back();
    open.pop_back();
    const bool given = std::find(begin.begin(), begin.end(), value) != begin.end();
    if (given || !needed.insert(value->node()).second) continue;
    for (const auto* input : value->node()->inputs()) open.push_back(input);
  }
  return needed;
}

using Copies = std::unordered_map<const Value*, Value*>;

/// Does not use Graph::createClone, which also copies the stack of inlined calls. That points to functions of the
/// archive, which no longer exist when the slice is used.
Node* clone_of(Graph& graph, const Node& node, const Copies& copies) {
  auto* clone = graph.create(node.kind(), node.outputs().size());
  clone->copyAttributes(node);
  clone->setSourceRange(node.sourceRange());
  for (const auto* input : node.inputs()) clone->addInput(copies.at(input));
  for (std::size_t i = 0; i < node.outputs().size(); ++i) clone->outputs()[i]->setType(node.outputs()[i]->type());
  return clone;
}

}  // namespace

std::vector<const Node*> nodes_between(const Graph& graph, const Cut& begin, const Cut& end) {
  const auto needed = needed_nodes(begin, end);
  std::vector<const Node*> nodes;
  for (const auto* node : graph.nodes()) {
    if (needed.contains(node)) nodes.push_back(node);
  }
  return nodes;
}

compute::Program slice(const Graph& graph, const Cut& begin, const Cut& end, const experiment::ComputeMode& mode,
                       OwnTensors* own) {
  auto copy = std::make_shared<Graph>();
  Copies copies;
  for (const auto* value : begin) copies.emplace(value, copy->addInput());
  for (const auto* node : nodes_between(graph, begin, end)) {
    auto* clone = copy->appendNode(clone_of(*copy, *node, copies));
    for (std::size_t i = 0; i < node->outputs().size(); ++i) copies.emplace(node->outputs()[i], clone->outputs()[i]);
  }
  for (const auto* value : end) copy->registerOutput(copies.at(value));
  compute::constants_in_mode(*copy, mode);
  if (own != nullptr) compute::replace_constants(*copy, [&](const at::Tensor& tensor) { return own->own(tensor); });
  return compute::Program(std::move(copy));
}

}  // namespace paretopipe::archive
