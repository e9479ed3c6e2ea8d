#include "rewrite_mutation.hpp"

#include <paretopipe/compute/torch/program.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

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
  const auto is_construction = [](const Node* node) { return is(*node, "prim::ListConstruct"); };
  for (auto* construction : compute::nodes_where(*graph, is_construction)) rewrite(*graph, construction);
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
  const auto is_fill = [](const Node* node) { return node->kind() == c10::aten::fill_; };
  for (auto* fill : compute::nodes_where(*graph, is_fill)) rewrite_fill(*fill);
}

}  // namespace paretopipe::archive
