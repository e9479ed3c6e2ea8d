#include <paretopipe/script/slice_fills.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace paretopipe::script {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

/// Whether the operator's result shares its memory with nothing else.
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

/// Whether the part belongs to a new tensor that nothing but these slices has used so far.
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

}  // namespace paretopipe::script
