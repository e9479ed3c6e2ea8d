#include <paretopipe/core/error.hpp>
#include <paretopipe/script/choose_cuts.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include <fmt/ranges.h>
#include <fnmatch.h>

namespace paretopipe::script {
namespace {

using torch::jit::Node;
using torch::jit::Value;
using Values = std::vector<Value*>;

template <std::size_t N>
bool is_one_of(const Node& node, const std::array<std::string_view, N>& kinds) {
  return std::find(kinds.begin(), kinds.end(), node.kind().toQualString()) != kinds.end();
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
  constexpr std::array<std::string_view, 1> kKinds{"aten::batch_norm"};
  return is_one_of(node, kKinds);
}

bool is_sum(const Node& node) {
  constexpr std::array<std::string_view, 1> kKinds{"aten::add"};
  return is_one_of(node, kKinds);
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

/// Whether the operator that uses the value is computed together with the one that made it.
bool inside_unit(const Value& value) {
  if (value.uses().size() != 1) return false;
  const auto& maker = *value.node();
  const auto& user = *value.uses().front().user;
  if (is_batch_norm(user)) return is_product(maker);
  if (is_activation(user)) return is_product(maker) || is_batch_norm(maker) || is_sum(maker);
  return is_sum(user) && is_product(maker) && user.inputs().at(1)->node()->kind() == c10::prim::Constant;  // a bias
}

/// A view of the model's input counts too: split point 0 sends the same bytes.
bool repeats_another(const Value& value, const Values& cuts) {
  if (!is_view(*value.node())) return false;
  auto* const original = value.node()->inputs().at(0);
  return original->node()->kind() == c10::prim::Param || std::find(cuts.begin(), cuts.end(), original) != cuts.end();
}

/// Whether the value is what the module gives to the rest.
bool is_result_of(const std::string& module, const Value& value, const NodeNames& names) {
  return std::none_of(value.uses().begin(), value.uses().end(),
                      [&](const auto& use) { return contains_module(module, names.path(use.user)); });
}

/// The module of the value's operator, and those around it: "layer1.0.conv1", "layer1.0", "layer1".
std::vector<std::string> modules_of(const Value& value, const NodeNames& names) {
  std::vector<std::string> modules;
  for (auto path = names.path(value.node()); !path.empty(); path = parent_of(path)) modules.push_back(path);
  return modules;
}

bool ends_child(const Value& value, const NodeNames& names) {
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

template <class Condition>
Values those_with(const Values& cuts, Condition condition) {
  Values chosen;
  std::copy_if(cuts.begin(), cuts.end(), std::back_inserter(chosen), condition);
  return chosen;
}

Values fitting(const Values& cuts, const std::string& pattern, const NodeNames& names) {
  auto chosen = those_with(cuts, [&](const auto* value) { return fits(pattern, *value, names); });
  if (!chosen.empty()) return chosen;
  std::vector<std::string> known;
  for (const auto* value : cuts) known.push_back(names.label(value->node()));
  throw UsageError(
      fmt::format("no cut is named \"{}\"; cuts are unit, all, modules, or a pattern that fits some of: {}", pattern,
                  fmt::join(known, ", ")));
}

}  // namespace

Values choose_cuts(const Values& cuts, const std::string& selection, const NodeNames& names) {
  if (selection == "all") return cuts;
  if (selection == "unit") {
    return those_with(cuts, [&](const auto* value) { return !inside_unit(*value) && !repeats_another(*value, cuts); });
  }
  if (selection == "modules") {
    return those_with(cuts, [&](const auto* value) { return ends_child(*value, names); });
  }
  return fitting(cuts, selection, names);
}

}  // namespace paretopipe::script
