#include <paretopipe/script/find_cuts.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

namespace paretopipe::script {
namespace {

using torch::jit::Node;
using torch::jit::Value;

/// A set of operators, by index.
using Set = std::vector<bool>;

bool contains(const Set& set, std::size_t index) {
  return index < set.size() && set[index];
}

/// The operators that depend on the input. The past of an operator is itself and all operators that it depends on.
class Dataflow {
 public:
  explicit Dataflow(torch::jit::Graph& graph) : input_(graph.inputs().at(0)), result_(graph.outputs().at(0)) {
    for (auto* node : graph.nodes()) add(node);
    for (std::size_t i = 0; i < nodes_.size(); ++i) given_.push_back(given_by(i));
  }

  std::size_t size() const { return nodes_.size(); }

  /// Whether `earlier` is in the past of `later`.
  bool ordered(std::size_t earlier, std::size_t later) const { return contains(pasts_[later], earlier); }

  Set past(std::size_t left, std::size_t right) const {
    Set both(nodes_.size());
    for (std::size_t i = 0; i < both.size(); ++i) both[i] = contains(pasts_[left], i) || contains(pasts_[right], i);
    return both;
  }

  /// The values that the pasts of two operators (or of one) give to all others. None if there are more than `most`, if
  /// not all are tensors, or if the graph's result is among them.
  std::optional<Cut> crossing(std::size_t left, std::size_t right, std::size_t most) const {
    Cut cut;
    for (const auto* given : {&given_[left], &given_[right]}) {
      for (const auto* value : *given) {
        if (std::find(cut.begin(), cut.end(), value) != cut.end() || used_within(value, left, right)) continue;
        if (cut.size() == most || !value->type()->isSubtypeOf(*c10::TensorType::get())) return std::nullopt;
        cut.push_back(value);
      }
    }
    if (std::find(cut.begin(), cut.end(), result_) != cut.end()) return std::nullopt;
    std::sort(cut.begin(), cut.end(), [this](const auto* a, const auto* b) { return place_of(a) < place_of(b); });
    return cut;
  }

 private:
  void add(Node* node) {
    Set past;
    bool depends = false;
    for (const auto* input : node->inputs()) {
      depends = depends || input == input_;
      const auto source = index_.find(input->node());
      if (source == index_.end()) continue;
      depends = true;
      const auto& others = pasts_[source->second];
      past.resize(std::max(past.size(), others.size()));
      for (std::size_t i = 0; i < others.size(); ++i) past[i] = past[i] || others[i];
    }
    if (!depends) return;
    past.resize(nodes_.size() + 1);
    past.back() = true;
    index_.emplace(node, nodes_.size());
    nodes_.push_back(node);
    pasts_.push_back(std::move(past));
  }

  Cut given_by(std::size_t index) const {
    Cut given;
    if (!used_within(input_, index, index)) given.push_back(input_);
    for (std::size_t i = 0; i <= index; ++i) {
      if (!pasts_[index][i]) continue;
      for (const auto* output : nodes_[i]->outputs()) {
        if (!used_within(output, index, index)) given.push_back(output);
      }
    }
    return given;
  }

  /// Whether all users of the value are in one of the pasts. The graph's result counts as used outside of all.
  bool used_within(const Value* value, std::size_t left, std::size_t right) const {
    return std::all_of(value->uses().begin(), value->uses().end(), [&](const auto& use) {
      const auto user = index_.find(use.user);
      if (user == index_.end()) return false;
      return contains(pasts_[left], user->second) || contains(pasts_[right], user->second);
    });
  }

  /// The value's place in the order of computation; the input comes first.
  std::pair<std::size_t, std::size_t> place_of(const Value* value) const {
    return value == input_ ? std::pair<std::size_t, std::size_t>{}
                           : std::pair{index_.at(value->node()) + 1, value->offset()};
  }

  const Value* input_;
  const Value* result_;
  std::vector<Node*> nodes_;
  std::unordered_map<const Node*, std::size_t> index_;
  std::vector<Set> pasts_;
  std::vector<Cut> given_;  ///< per operator: what its past gives to all others
};

struct Candidate {
  Cut cut;
  Set past;
  std::ptrdiff_t size;  ///< of operators in the past
};

/// Considers single operators, and pairs in which neither is in the other's past: no other pair gives a new cut.
std::vector<Candidate> find_candidates(const Dataflow& dataflow, std::size_t max_crossing) {
  std::vector<Candidate> candidates;
  const auto consider = [&](std::size_t left, std::size_t right) {
    auto cut = dataflow.crossing(left, right, max_crossing);
    if (!cut) return;
    auto past = dataflow.past(left, right);
    const auto size = std::count(past.begin(), past.end(), true);
    candidates.push_back({std::move(*cut), std::move(past), size});
  };
  for (std::size_t later = 0; later < dataflow.size(); ++later) {
    consider(later, later);
    for (std::size_t earlier = 0; max_crossing > 1 && earlier < later; ++earlier) {
      if (!dataflow.ordered(earlier, later)) consider(earlier, later);
    }
  }
  return candidates;
}

bool comes_first(const Candidate& left, const Candidate& right) {
  return left.size != right.size ? left.size < right.size : left.past > right.past;
}

bool is_part(const Set& part, const Set& whole) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] && !whole[i]) return false;
  }
  return true;
}

}  // namespace

std::vector<Cut> find_cuts(torch::jit::Graph& graph, int max_crossing) {
  const Dataflow dataflow(graph);
  auto candidates = find_candidates(dataflow, static_cast<std::size_t>(max_crossing));
  std::sort(candidates.begin(), candidates.end(), comes_first);
  std::vector<Cut> cuts;
  const Set* past = nullptr;
  for (const auto& candidate : candidates) {
    if (past != nullptr && !is_part(*past, candidate.past)) continue;
    past = &candidate.past;
    cuts.push_back(candidate.cut);
  }
  return cuts;
}

}  // namespace paretopipe::script
