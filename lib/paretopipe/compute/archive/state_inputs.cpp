#include "state_inputs.hpp"

#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include "node_names.hpp"

namespace paretopipe::archive {

namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Module;
using torch::jit::Node;
using torch::jit::Value;

constexpr std::string_view kCount = "num_batches_tracked";
constexpr std::string_view kRunningMean = "running_mean";

void check_parameter(const std::string& name, const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kFloat && tensor.layout() == at::kStrided) return;
  throw UsageError(fmt::format("its parameter {} is of type {}, and only float32 is trained", name,
                               c10::toString(tensor.scalar_type())));
}

/// An input of the operator by its name in the schema; none if there is no such input.
std::optional<std::size_t> input_named(const Node& node, std::string_view name) {
  const auto* schema = node.maybeSchema();
  if (schema == nullptr) return std::nullopt;
  const auto& arguments = schema->arguments();
  for (std::size_t i = 0; i < arguments.size() && i < node.inputs().size(); ++i) {
    if (arguments[i].name() == name) return i;
  }
  return std::nullopt;
}

void check_not_overwritten(const Value& value, const std::string& name) {
  for (const auto& use : value.uses()) {
    const auto* schema = use.user->maybeSchema();
    if (schema == nullptr || use.offset >= schema->arguments().size()) continue;
    const auto* alias = schema->arguments()[use.offset].alias_info();
    if (alias == nullptr || !alias->isWrite()) continue;
    throw UsageError(fmt::format("{} overwrites {}", describe_node(*use.user), name));
  }
}

bool is_constant_tensor(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  return constant && constant->isTensor();
}

}  // namespace

StateInputs::StateInputs(std::shared_ptr<Graph> graph, const Module& module) : graph_(std::move(graph)) {
  for (const auto& parameter : module.named_parameters()) {
    check_parameter(parameter.name, parameter.value);
    add(parameter.name, parameter.value, parameter.value.requires_grad());
  }
  for (const auto& buffer : module.named_buffers()) {
    const auto type = buffer.value.scalar_type();
    if (type == at::kFloat || type == at::kLong) add(buffer.name, buffer.value, false);
  }
  if (std::none_of(tensors_.begin(), tensors_.end(), [](const auto& tensor) { return tensor.learnable; })) {
    throw UsageError("none of its parameters asks for gradients (a frozen archive has none; save it unfrozen)");
  }
  modules_.emplace(graph_->inputs().at(0), module._ivalue());
  resolve(*graph_->block());
}

void StateInputs::add(const std::string& name, const at::Tensor& tensor, bool learnable) {
  if (tensor.numel() > 0) {
    const auto [known, added] = numbers_.emplace(tensor.data_ptr(), tensors_.size());
    if (!added) {
      throw UsageError(fmt::format("{} and {} are one tensor, and only tensors of one name are trained",
                                   tensors_[known->second].name, name));
    }
  }
  tensors_.push_back({name, tensor.detach(), learnable});  // copies of it are to be leaves of autograd's graph
  inputs_.push_back(graph_->addInput()->setType(c10::TensorType::get()));
}

/// Removes the counting of batches: `count.add_(1)`, and in archives of older versions `self.count = self.count + 1`.
void StateInputs::resolve(Block& block) {
  for (auto next = block.nodes().begin(); next != block.nodes().end();) {
    auto* node = *next++;
    for (auto* inner : node->blocks()) resolve(*inner);
    if (node->kind() == c10::prim::GetAttr) {
      resolve(*node);
    } else if (node->kind() == c10::prim::SetAttr && node->s(c10::attr::name) == kCount) {
      node->destroy();
    } else if (node->kind() == c10::aten::add_ && is_count(node->input(0))) {
      node->output()->replaceAllUsesWith(node->input(0));
      node->destroy();
    }
  }
}

void StateInputs::resolve(Node& attribute) {
  const auto owner = modules_.find(attribute.input());
  if (owner == modules_.end()) return;
  const auto value = owner->second.toObject()->getAttr(attribute.s(c10::attr::name));
  if (value.isObject()) {
    modules_.emplace(attribute.output(), value);
    return;
  }
  const auto known =
      value.isTensor() && value.toTensor().numel() > 0 ? numbers_.find(value.toTensor().data_ptr()) : numbers_.end();
  attribute.output()->replaceAllUsesWith(known == numbers_.end() ? constant_of(value, attribute)
                                                                 : inputs_[known->second]);
}

Value* StateInputs::constant_of(const c10::IValue& value, Node& attribute) {
  const torch::jit::WithInsertPoint before(&attribute);
  const auto plain = value.isTensor() ? c10::IValue(value.toTensor().detach()) : value;
  if (auto constant = torch::jit::tryInsertConstant(*graph_, plain)) return *constant;
  throw UsageError(fmt::format("its attribute {} is of type {}, which cannot be trained", attribute.s(c10::attr::name),
                               value.type()->repr_str()));
}

bool StateInputs::is_count(const Value* value) const {
  const auto input = std::find(inputs_.begin(), inputs_.end(), value);
  return input != inputs_.end() && tensors_[static_cast<std::size_t>(input - inputs_.begin())].name.ends_with(kCount);
}

void StateInputs::make_constants() {
  const torch::jit::WithInsertPoint at_front(*graph_->nodes().begin());
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (inputs_[i]->uses().empty()) continue;
    if (is_count(inputs_[i])) {
      throw UsageError(fmt::format("{} is in the way of training: it averages over all batches so far (momentum=None)",
                                   describe_node(*inputs_[i]->uses().front().user)));
    }
    check_not_overwritten(*inputs_[i], tensors_[i].name);
    auto* constant = graph_->insertConstant(tensors_[i].tensor);
    constant->setType(c10::TensorType::get());
    inputs_[i]->replaceAllUsesWith(constant);
  }
  for (auto index = graph_->inputs().size(); index-- > 0;) {
    if (std::find(inputs_.begin(), inputs_.end(), graph_->inputs()[index]) != inputs_.end()) graph_->eraseInput(index);
  }
  inputs_.clear();
}

std::optional<std::size_t> training_flag(const Node& node) {
  for (const auto* name : {"training", "train", "use_input_stats"}) {
    if (const auto input = input_named(node, name)) return input;
  }
  return std::nullopt;
}

void switch_to_training(Graph& graph) {
  const torch::jit::WithInsertPoint at_front(*graph.nodes().begin());
  auto* const yes = graph.insertConstant(true);
  for (auto* node : graph.nodes()) {
    if (const auto flag = training_flag(*node)) node->replaceInput(*flag, yes);
  }
}

void check_weights(const Graph& graph) {
  for (const auto* node : graph.nodes()) {
    const auto weight = input_named(*node, "weight");
    if (weight && is_constant_tensor(node->input(*weight))) {
      throw UsageError(fmt::format("{} has constants for weights, which cannot be trained (was the archive frozen?)",
                                   describe_node(*node)));
    }
    const auto momentum = input_named(*node, "momentum");
    if (momentum && torch::jit::constant_as<double>(node->input(*momentum)) == 0.0) {
      throw UsageError(fmt::format(
          "{} has a momentum of 0, as if traced in evaluation with momentum=None: its statistics would not change",
          describe_node(*node)));
    }
  }
}

std::string count_beside(const std::string& running_mean) {
  if (!running_mean.ends_with(kRunningMean)) return "";
  return running_mean.substr(0, running_mean.size() - kRunningMean.size()).append(kCount);
}

}  // namespace paretopipe::archive
