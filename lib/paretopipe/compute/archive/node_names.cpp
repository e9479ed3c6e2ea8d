#include "node_names.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::archive {

namespace {

bool gives_tensor(const torch::jit::Node& node) {
  return std::any_of(node.outputs().begin(), node.outputs().end(),
                     [](const auto* output) { return output->type()->isSubtypeOf(*c10::TensorType::get()); });
}

/// The path of the author's module from which the operator was inlined, as attributes of the archive's top module:
/// "layer1.0.conv1". Empty for an operator of the top module itself.
std::string module_path(const torch::jit::Node& node) {
  std::string path;
  const auto callstack = node.callstack();
  if (!callstack) return path;
  for (const auto& call : (*callstack)->vec()) {
    const auto& instance = std::get<2>(call);
    if (!instance || !instance->class_type()) continue;  // a function
    const auto name = instance->instance_name();
    if (name.empty() || name == "SELF" || name == "INSTANCE_NAME_UNKNOWN") continue;  // names that mean no attribute
    path += path.empty() ? name : fmt::format(".{}", name);
  }
  return path;
}

}  // namespace

std::string parent_of(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == path.npos ? "" : path.substr(0, dot);
}

std::string describe_node(const torch::jit::Node& node) {
  std::string text(node.kind().toQualString());
  if (const auto path = module_path(node); !path.empty()) text += fmt::format(" in {}", path);
  if (const auto place = node.sourceRange().file_line_col()) {
    text += fmt::format(" ({}:{})", std::get<0>(*place), std::get<1>(*place));
  }
  return text;
}

bool contains_module(const std::string& path, const std::string& other) {
  return path.empty() || path == other || (other.starts_with(path) && other[path.size()] == '.');
}

NodeNames::NodeNames(torch::jit::Graph& graph) {
  for (const auto* node : graph.nodes()) {
    if (node->kind() != c10::prim::Constant) paths_.emplace(node, module_path(*node));
  }
}

std::string NodeNames::label(const torch::jit::Node* node) const {
  const auto& own = path(node);
  const bool leaf = !own.empty() && std::none_of(paths_.begin(), paths_.end(), [&](const auto& other) {
    return other.second != own && contains_module(own, other.second);
  });
  if (leaf) return own;
  std::string kind(node->kind().toUnqualString());
  return own.empty() ? kind : fmt::format("{}.{}", own, kind);
}

bool NodeNames::is_whole_module(const std::string& path, const std::vector<const torch::jit::Node*>& nodes) const {
  const auto within = [&](const auto& other) { return contains_module(path, other.second); };
  const auto all = std::count_if(paths_.begin(), paths_.end(), within);
  const auto own = std::count_if(nodes.begin(), nodes.end(), [&](const auto* node) {
    const auto found = paths_.find(node);
    return found != paths_.end() && within(*found);
  });
  return own == all;
}

std::string NodeNames::name_of(const std::vector<const torch::jit::Node*>& nodes) const {
  std::vector<const torch::jit::Node*> named;
  for (const auto* node : nodes) {
    if (paths_.contains(node) && gives_tensor(*node)) named.push_back(node);
  }
  if (named.empty()) return "identity";
  auto common = path(named.front());
  for (const auto* node : named) {
    while (!contains_module(common, path(node))) common = parent_of(common);
  }
  if (!common.empty() && is_whole_module(common, nodes)) return common;
  const auto first = label(named.front());
  const auto last = label(named.back());
  return first == last ? first : fmt::format("{}..{}", first, last);
}

}  // namespace paretopipe::archive
