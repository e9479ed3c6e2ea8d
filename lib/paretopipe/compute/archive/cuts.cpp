#include "cuts.hpp"

#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/ranges.h>
#include <fnmatch.h>

namespace paretopipe::archive {

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

  /// True if `earlier` is in the past of `later`.
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

  /// True if all users of the value are in one of the pasts. The graph's result counts as used outside of all.
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

namespace {

using Cuts = std::vector<Cut>;

template <std::size_t N>
bool is_one_of(const Node& node, const std::array<std::string_view, N>& kinds) {
  return std::find(kinds.begin(), kinds.end(), node.kind().toQualString()) != kinds.end();
}

bool is_input(const Value& value) {
  return value.node()->kind() == c10::prim::Param;
}

bool is_product(const Node& node) {
  constexpr std::array<std::string_view, 13> kKinds{"aten::conv1d",           "aten::conv2d",
                                                    "aten::conv3d",           "aten::_convolution",
                                                    "aten::convolution",      "aten::conv_transpose1d",
                                                    "aten::conv_transpose2d", "aten::conv_transpose3d",
                                                    "aten::linear",           "aten::addmm",
                                                    "aten::matmul",           "aten::mm",
                                                    "aten::_convolution_mode"};
  return is_one_of(node, kKinds);
}

bool is_batch_norm(const Node& node) {
  return node.kind() == c10::aten::batch_norm;
}

bool is_sum(const Node& node) {
  return node.kind() == c10::aten::add;
}

bool is_activation(const Node& node) {
  constexpr std::array<std::string_view, 18> kKinds{
      "aten::relu", "aten::relu6",     "aten::hardtanh", "aten::leaky_relu",  "aten::elu",       "aten::selu",
      "aten::celu", "aten::gelu",      "aten::silu",     "aten::mish",        "aten::sigmoid",   "aten::hardsigmoid",
      "aten::tanh", "aten::hardswish", "aten::prelu",    "aten::log_sigmoid", "aten::threshold", "aten::softplus"};
  return is_one_of(node, kKinds);
}

bool is_view(const Node& node) {
  constexpr std::array<std::string_view, 7> kKinds{"aten::flatten", "aten::view",      "aten::reshape", "aten::squeeze",
                                                   "aten::detach",  "aten::unsqueeze", "aten::alias"};
  return is_one_of(node, kKinds);
}

/// True if the value's only user is computed together with the operator that made it.
bool inside_unit(const Value& value) {
  if (value.uses().size() != 1) return false;
  const auto& maker = *value.node();
  const auto& user = *value.uses().front().user;
  if (is_batch_norm(user)) return is_product(maker);
  if (is_activation(user)) return is_product(maker) || is_batch_norm(maker) || is_sum(maker);
  return is_sum(user) && is_product(maker) && user.inputs().at(1)->node()->kind() == c10::prim::Constant;  // a bias
}

bool same_tensors(const Cut& left, const Cut& right) {
  return std::is_permutation(left.begin(), left.end(), right.begin(), right.end());
}

/// True if another cut sends the same bytes, because a tensor and its view have the same bytes. A view of the model's
/// input repeats split point 0.
bool repeats_another(const Cut& cut, const Cuts& cuts) {
  for (std::size_t i = 0; i < cut.size(); ++i) {
    if (!is_view(*cut[i]->node())) continue;
    auto other = cut;
    other[i] = cut[i]->node()->inputs().at(0);
    if (other.size() == 1 && is_input(*other[0])) return true;
    if (std::count(other.begin(), other.end(), other[i]) > 1) return true;
    if (std::any_of(cuts.begin(), cuts.end(), [&](const auto& known) { return same_tensors(known, other); }))
      return true;
  }
  return false;
}

/// True if the value is a result of the module: no operator in the module uses it.
bool is_result_of(const std::string& module, const Value& value, const NodeNames& names) {
  return std::none_of(value.uses().begin(), value.uses().end(),
                      [&](const auto& use) { return contains_module(module, names.path(use.user)); });
}

/// The module of the value's operator and those around it: "layer1.0.conv1", "layer1.0", "layer1".
std::vector<std::string> modules_of(const Value& value, const NodeNames& names) {
  std::vector<std::string> modules;
  for (auto path = names.path(value.node()); !path.empty(); path = parent_of(path)) modules.push_back(path);
  return modules;
}

/// True if the value is the result of a child of the top module. The model's input counts too, because it can cross the
/// same cuts.
bool ends_child(const Value& value, const NodeNames& names) {
  if (is_input(value)) return true;
  const auto modules = modules_of(value, names);
  return !modules.empty() && is_result_of(modules.back(), value, names);
}

bool fits(const std::string& pattern, const Value& value, const NodeNames& names) {
  const auto matches = [&](const std::string& name) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; };
  if (matches(names.label(value.node()))) return true;
  const auto modules = modules_of(value, names);
  return std::any_of(modules.begin(), modules.end(),
                     [&](const auto& module) { return matches(module) && is_result_of(module, value, names); });
}

/// True if the pattern fits the tensor that is computed last, or the cut's label.
bool fits(const std::string& pattern, const Cut& cut, const NodeNames& names) {
  return fits(pattern, *cut.back(), names) || fnmatch(pattern.c_str(), label_of(cut, names).c_str(), 0) == 0;
}

template <class Condition>
Cuts those_with(const Cuts& cuts, Condition condition) {
  Cuts chosen;
  std::copy_if(cuts.begin(), cuts.end(), std::back_inserter(chosen), condition);
  return chosen;
}

/// The cuts whose tensors all meet the condition.
template <class Condition>
Cuts those_of(const Cuts& cuts, Condition condition) {
  return those_with(cuts, [&](const auto& cut) {
    return std::all_of(cut.begin(), cut.end(), [&](const auto* value) { return condition(*value); });
  });
}

Cuts fitting(const Cuts& cuts, const std::string& pattern, const NodeNames& names) {
  auto chosen = those_with(cuts, [&](const auto& cut) { return fits(pattern, cut, names); });
  if (!chosen.empty()) return chosen;
  std::vector<std::string> known;
  for (const auto& cut : cuts) known.push_back(label_of(cut, names));
  throw UsageError(
      fmt::format("no cut is named \"{}\"; cuts are unit, all, modules, or a pattern that fits some of: {}", pattern,
                  fmt::join(known, ", ")));
}

}  // namespace

Cuts choose_cuts(const Cuts& cuts, const std::string& selection, const NodeNames& names) {
  if (selection == "all") return cuts;
  if (selection == "unit") {
    const auto units = those_of(cuts, [](const auto& value) { return !inside_unit(value); });
    return those_with(units, [&](const auto& cut) { return !repeats_another(cut, cuts); });
  }
  if (selection == "modules") {
    return those_of(cuts, [&](const auto& value) { return ends_child(value, names); });
  }
  return fitting(cuts, selection, names);
}

std::string label_of(const Cut& cut, const NodeNames& names) {
  std::vector<std::string> labels;
  for (const auto* value : cut) {
    labels.push_back(is_input(*value) ? "input" : names.label(value->node()));
  }
  return fmt::format("{}", fmt::join(labels, " + "));
}

}  // namespace paretopipe::archive
