#include "trainable.hpp"

#include <paretopipe/compute/torch/multiply_accumulates.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones_like.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/jit/ir/constants.h>

#include "slice.hpp"
#include "state_inputs.hpp"

namespace paretopipe::archive {

namespace {

using compute::Tensors;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// Finds a model's tensors among the constants of a graph, and by name.
class KnownState {
 public:
  explicit KnownState(const std::vector<compute::NamedTensor>& state) : state_(state) {
    for (std::size_t i = 0; i < state.size(); ++i) {
      if (state[i].tensor.numel() > 0) by_address_.emplace(state[i].tensor.data_ptr(), i);
      by_name_.emplace(state[i].name, i);
    }
  }

  /// The tensor's number; kNone if the value is something else.
  std::size_t find(const Value* value) const {
    const auto constant = torch::jit::toIValue(value);
    if (!constant || !constant->isTensor()) return kNone;
    const auto found = by_address_.find(constant->toTensor().data_ptr());
    return found == by_address_.end() ? kNone : found->second;
  }

  /// The count of a batch norm's batches; kNone for other operators.
  std::size_t count_of(const Node& node) const {
    constexpr std::size_t kRunningMeanInput = 3;
    if (node.kind() != c10::aten::batch_norm) return kNone;
    const auto mean = find(node.input(kRunningMeanInput));
    if (mean == kNone) return kNone;
    const auto found = by_name_.find(count_beside(state_[mean].name));
    return found == by_name_.end() ? kNone : found->second;
  }

  /// The tensors that an operator computes with or changes.
  std::vector<std::size_t> used_by(const Node& node) const {
    std::vector<std::size_t> used;
    for (const auto* input : node.inputs()) used.push_back(find(input));
    used.push_back(count_of(node));
    std::erase(used, kNone);
    return used;
  }

 private:
  const std::vector<compute::NamedTensor>& state_;
  std::unordered_map<const void*, std::size_t> by_address_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

/// True for what training changes: parameters that learn, and running statistics.
bool changes(const compute::NamedTensor& tensor, const Node& user) {
  return tensor.learnable || training_flag(user).has_value();
}

[[noreturn]] void refuse_sharing(const std::string& name, std::size_t block, std::size_t other) {
  throw UsageError(fmt::format("it cannot be trained: blocks {} and {} share {}; choose --cuts with none between them",
                               block + 1, other + 1, name));
}

/// The tensors of PreparedModel::state that the operators between two cuts compute with or change, by number.
std::vector<std::size_t> state_between(const PreparedModel& model, const Cut& begin, const Cut& end) {
  const KnownState known(model.state);
  std::vector<std::size_t> all;
  for (const auto* node : nodes_between(*model.graph, begin, end)) {
    const auto used = known.used_by(*node);
    all.insert(all.end(), used.begin(), used.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// What a slice's graph takes of a model's state.
struct Taken {
  std::vector<std::size_t> inputs;  ///< the tensor of each new input
  std::vector<std::size_t> counts;  ///< that a forward adds one to, again for every batch norm that shares them
};

/// Replaces the graph's constants that are tensors of `own` by inputs, behind those that cross the cut.
Taken take_state(const PreparedModel& model, Graph& graph, const std::vector<std::size_t>& own) {
  const KnownState known(model.state);
  Taken taken;
  std::vector<Node*> constants;
  for (auto* node : graph.nodes()) {
    if (node->kind() == c10::prim::Constant) constants.push_back(node);
    if (const auto count = known.count_of(*node); count != kNone) taken.counts.push_back(count);
  }
  for (auto* node : constants) {
    const auto number = known.find(node->output());
    if (std::find(own.begin(), own.end(), number) == own.end()) continue;
    node->output()->replaceAllUsesWith(graph.addInput());
    node->destroy();
    taken.inputs.push_back(number);
  }
  return taken;
}

/// The places of these numbers in `order`, in which a block has its tensors.
std::vector<std::size_t> places_of(const std::vector<std::size_t>& numbers, const std::vector<std::size_t>& order) {
  std::vector<std::size_t> places;
  for (const auto number : numbers) {
    places.push_back(static_cast<std::size_t>(std::find(order.begin(), order.end(), number) - order.begin()));
  }
  return places;
}

/// A block's graph and what it gets besides its inputs.
struct Bound {
  compute::Program program;
  std::size_t inputs;               ///< tensors that the graph takes
  std::vector<std::size_t> counts;  ///< places of the counts

  Tensors run(Tensors crossing, const std::vector<at::Tensor>& tensors) const {
    {
      const at::NoGradGuard no_graph;
      for (const auto count : counts) tensors[count].add_(1);
    }
    crossing.append(tensors.begin(), tensors.begin() + static_cast<std::ptrdiff_t>(inputs));
    return program.run(std::move(crossing));
  }
};

}  // namespace

std::vector<std::size_t> owners_of_state(const PreparedModel& model, const std::vector<Cut>& boundaries) {
  const KnownState known(model.state);
  const auto blocks = boundaries.size() - 1;
  std::vector<std::size_t> owners(model.state.size(), kNone);
  for (std::size_t block = 0; block < blocks; ++block) {
    for (const auto* node : nodes_between(*model.graph, boundaries[block], boundaries[block + 1])) {
      for (const auto number : known.used_by(*node)) {
        auto& owner = owners[number];
        if (owner == kNone) owner = block;
        if (owner != block && changes(model.state[number], *node)) {
          refuse_sharing(model.state[number].name, owner, block);
        }
      }
    }
  }
  std::replace(owners.begin(), owners.end(), kNone, blocks - 1);
  return owners;
}

train::TrainableBlock trainable_block(const PreparedModel& model, const Cut& begin, const Cut& end,
                                      const std::vector<std::size_t>& own) {
  const c10::InferenceMode with_gradients(false);
  auto graph = slice(*model.graph, begin, end).graph()->copy();
  const auto taken = take_state(model, *graph, own);
  // Autograd keeps some constants, which it refuses to do with those that were loaded in inference mode.
  compute::replace_constants(*graph, [](const at::Tensor& tensor) { return tensor.clone(); });
  auto order = taken.inputs;
  for (const auto number : own) {
    if (std::find(order.begin(), order.end(), number) == order.end()) order.push_back(number);
  }
  train::TrainableBlock block;
  for (const auto number : order) block.tensors.push_back(model.state[number]);
  const auto bound = std::make_shared<const Bound>(
      Bound{compute::Program(std::move(graph)), taken.inputs.size(), places_of(taken.counts, order)});
  block.bind = [bound](std::span<const at::Tensor> tensors) -> train::Run {
    return [bound, own = std::vector<at::Tensor>(tensors.begin(), tensors.end())](Tensors crossing) {
      return bound->run(std::move(crossing), own);
    };
  };
  return block;
}

namespace {

bool is_finite(const at::Tensor& tensor) {
  return tensor.isfinite().all().item<bool>();
}

/// PyTorch refuses to train a batch norm on one value per channel. An archive lacks that check, and its running
/// variance would become NaN. A buffer that was infinite before is meant to be, such as a mask of attention.
void check_statistics(const train::TrainableBlock& block, const std::vector<at::Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (block.tensors[i].learnable || !tensors[i].is_floating_point()) continue;
    if (is_finite(tensors[i]) || !is_finite(block.tensors[i].tensor)) continue;
    throw UsageError(
        fmt::format("the archive cannot be trained on such micro-batches: {} becomes NaN or infinite. A batch norm "
                    "needs more than one value per channel; make --micro-batch larger",
                    block.tensors[i].name));
  }
}

}  // namespace

Trial try_training(const PreparedModel& model, const Cut& begin, const Cut& end, const Tensors& inputs) {
  const c10::InferenceMode with_gradients(false);
  const auto block = trainable_block(model, begin, end, state_between(model, begin, end));
  std::vector<at::Tensor> tensors;
  for (const auto& entry : block.tensors) tensors.push_back(entry.tensor.clone().set_requires_grad(entry.learnable));
  compute::MultiplyAccumulateCounter counter;
  const auto results = block.bind(tensors)(inputs);
  Trial trial{.multiply_accumulates = counter.take()};
  check_statistics(block, tensors);
  torch::autograd::variable_list learned, gradients;
  for (const auto& result : results) {
    if (!result.requires_grad()) continue;
    learned.push_back(result);
    gradients.push_back(at::ones_like(result));
  }
  if (!learned.empty()) torch::autograd::backward(learned, gradients);
  for (const auto& result : results) {
    trial.results.push_back(result.detach().set_requires_grad(result.requires_grad()));
  }
  return trial;
}

}  // namespace paretopipe::archive
