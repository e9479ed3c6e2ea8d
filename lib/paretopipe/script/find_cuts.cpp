#include <paretopipe/script/find_cuts.hpp>

#include <algorithm>
#include <unordered_map>

namespace paretopipe::script {
namespace {

using torch::jit::Node;
using torch::jit::Value;

/// A set of operators, by index.
using Set = std::vector<bool>;

/// The operators that depend on the input, and for each of them itself with all those that it depends on.
class Dataflow {
 public:
  explicit Dataflow(torch::jit::Graph& graph) : input_(graph.inputs().at(0)) {
    for (auto* node : graph.nodes()) add(node);
  }

  const std::vector<Node*>& nodes() const { return nodes_; }

  bool is_cut(std::size_t index, const Value* value) const {
    const auto& sources = sources_[index];
    if (!used_within(input_, sources)) return false;
    for (std::size_t i = 0; i <= index; ++i) {
      if (!sources[i]) continue;
      for (const auto* output : nodes_[i]->outputs()) {
        if (output != value && !used_within(output, sources)) return false;
      }
    }
    return true;
  }

 private:
  void add(Node* node) {
    Set sources;
    bool depends = false;
    for (const auto* input : node->inputs()) {
      depends = depends || input == input_;
      const auto source = index_.find(input->node());
      if (source == index_.end()) continue;
      depends = true;
      const auto& others = sources_[source->second];
      sources.resize(std::max(sources.size(), others.size()));
      for (std::size_t i = 0; i < others.size(); ++i) sources[i] = sources[i] || others[i];
    }
    if (!depends) return;
    sources.resize(nodes_.size() + 1);
    sources.back() = true;
    index_.emplace(node, nodes_.size());
    nodes_.push_back(node);
    sources_.push_back(std::move(sources));
  }

  /// The graph's result is used outside of all.
  bool used_within(const Value* value, const Set& set) const {
    return std::all_of(value->uses().begin(), value->uses().end(), [&](const auto& use) {
      const auto user = index_.find(use.user);
      return user != index_.end() && user->second < set.size() && set[user->second];
    });
  }

  const Value* input_;
  std::vector<Node*> nodes_;
  std::unordered_map<const Node*, std::size_t> index_;
  std::vector<Set> sources_;
};

}  // namespace

std::vector<Value*> find_cuts(torch::jit::Graph& graph) {
  const Dataflow dataflow(graph);
  const auto* result = graph.outputs().at(0);
  std::vector<Value*> cuts;
  for (std::size_t i = 0; i < dataflow.nodes().size(); ++i) {
    for (auto* value : dataflow.nodes()[i]->outputs()) {
      if (value == result || !value->type()->isSubtypeOf(*c10::TensorType::get())) continue;
      if (dataflow.is_cut(i, value)) cuts.push_back(value);
    }
  }
  return cuts;
}

}  // namespace paretopipe::script
