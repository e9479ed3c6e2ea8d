#include "torch_training_part.hpp"

#include <paretopipe/compute/torch/tensors.hpp>
#include <paretopipe/compute/torch/with_libtorch.hpp>
#include <paretopipe/core/hash.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

#include "optimizer.hpp"

namespace paretopipe::train {

namespace {

using compute::Tensors;
using compute::with_autograd;
using stage::Activation;
using stage::MicroBatch;

/// The tensors of all blocks, and the blocks' forwards with them. An update may make another version.
struct Version {
  std::vector<std::vector<at::Tensor>> tensors;  ///< of each block
  std::vector<Run> runs;
};

/// What a micro-batch needs between its forward and its backward.
struct Kept {
  Tensors inputs;  ///< leaves of the graph
  std::shared_ptr<Version> version;
  std::optional<at::Tensor> labels{};  ///< after loss()
  double share = 1;
  bool recomputed = false;             ///< the forward will be repeated before the backward; no edges until then
  torch::autograd::edge_list edges{};  ///< of the outputs, or of the loss
};

Activation to_activation(const Tensors& tensors) {
  Tensors detached;
  for (const auto& tensor : tensors) detached.push_back(tensor.detach());
  return compute::to_activation(std::move(detached), {});
}

at::Tensor loss_of(const at::Tensor& outputs, const at::Tensor& labels, double share) {
  return at::cross_entropy_loss(outputs, labels).mul(share);
}

/// Outputs without a gradient, such as a mask, have no edge that leads anywhere.
torch::autograd::edge_list edges_of(const Tensors& outputs) {
  torch::autograd::edge_list edges;
  for (const auto& output : outputs) {
    edges.push_back(output.requires_grad() ? torch::autograd::impl::gradient_edge(output) : torch::autograd::Edge());
  }
  return edges;
}

class TorchTrainingPart final : public stage::TrainingPart {
 public:
  TorchTrainingPart(std::vector<TrainableBlock> blocks, const PartOptions& options)
      : blocks_(std::move(blocks)), options_(options), current_(std::make_shared<Version>()) {
    for (auto& block : blocks_) {
      auto& tensors = current_->tensors.emplace_back();
      states_.emplace_back(block.tensors.size());
      for (auto& entry : block.tensors) {
        tensors.push_back(entry.tensor.clone().set_requires_grad(entry.learnable));  // the copy is no inference tensor
        entry.tensor.reset();
      }
      current_->runs.push_back(block.bind(tensors));
    }
  }

  Activation forward(MicroBatch which, Activation input, experiment::Backward backward) override {
    return with_autograd("train", [&] {
      auto& kept = kept_[which];
      kept = Kept{compute::to_tensors(std::move(input)), current_};
      kept.recomputed = options_.training.recompute && backward == experiment::Backward::later;
      for (auto& tensor : kept.inputs) {
        if (options_.first_block > 0 && tensor.is_floating_point()) tensor.set_requires_grad(true);
      }
      const at::AutoGradMode graph(!kept.recomputed);
      outputs_ = run(which, kept);
      if (!kept.recomputed) kept.edges = edges_of(outputs_);
      return to_activation(outputs_);
    });
  }

  stage::Learned loss(MicroBatch which, std::span<const std::int64_t> labels, double share) override {
    return with_autograd("compute the loss", [&]() -> stage::Learned {
      auto& kept = kept_.at(which);
      kept.labels = at::from_blob(const_cast<std::int64_t*>(labels.data()), {static_cast<std::int64_t>(labels.size())},
                                  at::TensorOptions(at::kLong));
      kept.share = share;
      const at::AutoGradMode graph(!kept.recomputed);
      const auto outputs = std::exchange(outputs_, {}).front();
      const auto loss = loss_of(outputs, *kept.labels, share);
      if (!kept.recomputed) kept.edges = edges_of({loss});
      const auto correct = outputs.detach().argmax(1).eq(*kept.labels).sum();
      return {loss.item<double>(), correct.item<std::int64_t>()};
    });
  }

  Activation backward(MicroBatch which, Activation gradient) override {
    return with_autograd("train", [&]() -> Activation {
      outputs_.clear();
      auto kept = std::move(kept_.extract(which).mapped());
      if (blocks_.empty() && options_.first_block == 0) return {};
      if (kept.recomputed) kept.edges = recomputed(which, kept);
      run_backward(kept, std::move(gradient));
      if (unused_.empty() || unused_.back() != kept.version) unused_.push_back(kept.version);
      return options_.first_block == 0 ? Activation{} : gradients_of(kept.inputs);
    });
  }

  std::span<float> gradients() override {
    return with_autograd("gather the gradients", [&]() -> std::span<float> {
      const at::NoGradGuard no_graph;
      gather_gradients();
      return {flat_gradients_.data_ptr<float>(), static_cast<std::size_t>(flat_gradients_.numel())};
    });
  }

  void update(double learning_rate) override {
    options_.training.optimizer.learning_rate = learning_rate;
    with_autograd("update the weights", [&] {
      const at::NoGradGuard no_graph;
      // What is in flight needs the parameters as they are.
      if (!kept_.empty()) current_ = std::make_shared<Version>(*current_);
      for (std::size_t block = 0; block < blocks_.size(); ++block) update(block);
      unused_.clear();
    });
  }

  std::vector<std::string> digests() const override {
    std::vector<std::string> digests;
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      std::string text;
      for (const auto& tensor : current_->tensors[block]) text += digest(tensor);
      for (const auto& state : states_[block]) {
        for (const auto& tensor : state.tensors) text += digest(tensor);
      }
      digests.push_back(sha256_of_text(text));
    }
    return digests;
  }

  stage::TrainingBytes bytes() const override {
    stage::TrainingBytes bytes;
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      for (const auto& tensor : current_->tensors[block]) bytes.parameters += size_of(tensor);
      for (const auto& state : states_[block]) {
        for (const auto& tensor : state.tensors) bytes.optimizer += size_of(tensor);
      }
    }
    return bytes;
  }

  std::vector<stage::NamedState> state() const override {
    std::vector<stage::NamedState> state;
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      for (std::size_t i = 0; i < blocks_[block].tensors.size(); ++i) {
        state.push_back({blocks_[block].tensors[i].name, compute::to_activation(current_->tensors[block][i].detach())});
      }
    }
    return state;
  }

 private:
  static std::int64_t size_of(const at::Tensor& tensor) { return static_cast<std::int64_t>(tensor.nbytes()); }

  static std::string digest(const at::Tensor& tensor) {
    const auto dense = tensor.contiguous();
    return sha256_of_text({static_cast<const char*>(dense.data_ptr()), dense.nbytes()});
  }

  Tensors run(MicroBatch which, const Kept& kept) const {
    auto tensors = kept.inputs;
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      at::manual_seed(fnv1a64(fmt::format("{}/{}/{}/{}", options_.seed, which.step, which.index,
                                          options_.first_block + static_cast<int>(block))));
      tensors = kept.version->runs[block](std::move(tensors));
    }
    return tensors;
  }

  /// Repeats the forward on copies of the buffers, because it must not count again in the running statistics.
  torch::autograd::edge_list recomputed(MicroBatch which, Kept kept) const {
    auto copy = std::make_shared<Version>(*kept.version);
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      for (std::size_t i = 0; i < blocks_[block].tensors.size(); ++i) {
        auto& tensor = copy->tensors[block][i];
        if (!blocks_[block].tensors[i].learnable) tensor = tensor.clone();
      }
      copy->runs[block] = blocks_[block].bind(copy->tensors[block]);
    }
    kept.version = std::move(copy);
    auto outputs = run(which, kept);
    if (kept.labels) outputs = {loss_of(outputs.front(), *kept.labels, kept.share)};
    return edges_of(outputs);
  }

  /// Runs in the calling thread: LibTorch has other threads for GPUs only.
  static void run_backward(const Kept& kept, Activation gradient) {
    auto gradients = kept.labels ? Tensors{at::ones({})} : compute::to_tensors(std::move(gradient));
    torch::autograd::edge_list roots;
    torch::autograd::variable_list with;
    for (std::size_t i = 0; i < kept.edges.size(); ++i) {
      if (!kept.edges[i].is_valid()) continue;
      roots.push_back(kept.edges[i]);
      with.push_back(std::move(gradients[i]));
    }
    torch::autograd::Engine::get_default_engine().execute(roots, with, /*keep_graph=*/false, /*create_graph=*/false,
                                                          /*accumulate_grad=*/true);
  }

  static Activation gradients_of(const Tensors& inputs) {
    Tensors gradients;
    for (const auto& input : inputs) {
      if (!input.is_floating_point()) continue;
      gradients.push_back(input.grad().defined() ? input.grad() : at::zeros_like(input));
    }
    return to_activation(gradients);
  }

  /// Gathers all gradients into one tensor. The parameters' gradients are then views of it.
  void gather_gradients() {
    std::vector<at::Tensor> all{at::empty({0})};
    std::vector<std::pair<at::Tensor, at::Tensor>> gathered;
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      for (std::size_t i = 0; i < blocks_[block].tensors.size(); ++i) {
        if (!blocks_[block].tensors[i].learnable) continue;
        const auto gradient = taken_gradient(block, i);
        const auto& parameter = current_->tensors[block][i];
        all.push_back((gradient.defined() ? gradient : at::zeros_like(parameter)).reshape(-1));
        gathered.emplace_back(parameter, all.back());
      }
    }
    flat_gradients_ = at::cat(all);
    std::int64_t at = 0;
    for (auto& [parameter, gradient] : gathered) {
      parameter.mutable_grad() = flat_gradients_.narrow(0, at, gradient.numel()).view_as(parameter);
      at += gradient.numel();
    }
    unused_.assign(1, current_);
  }

  void update(std::size_t block) {
    auto& tensors = current_->tensors[block];
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (!blocks_[block].tensors[i].learnable) continue;
      auto gradient = taken_gradient(block, i);
      if (!kept_.empty()) tensors[i] = tensors[i].detach().clone().set_requires_grad(true);
      if (gradient.defined()) {
        train::update(options_.training.optimizer, tensors[i], std::move(gradient), states_[block][i]);
      }
    }
    if (!kept_.empty()) current_->runs[block] = blocks_[block].bind(tensors);
  }

  /// The sum of what backwards have added since the last update, to any version of the parameter.
  at::Tensor taken_gradient(std::size_t block, std::size_t index) {
    at::Tensor sum;
    for (const auto& version : unused_) {
      auto gradient = std::exchange(version->tensors[block][index].mutable_grad(), at::Tensor());
      if (!gradient.defined()) continue;
      sum = sum.defined() ? sum.add(gradient) : std::move(gradient);
    }
    return sum;
  }

  std::vector<TrainableBlock> blocks_;  ///< their own tensors are gone
  PartOptions options_;
  std::shared_ptr<Version> current_;
  std::vector<std::vector<ParameterState>> states_;  ///< of each block and tensor
  std::map<MicroBatch, Kept> kept_;
  std::vector<std::shared_ptr<Version>> unused_;  ///< whose gradients no update has used yet
  at::Tensor flat_gradients_;                     ///< of gradients()
  Tensors outputs_;                               ///< of the last forward, for loss()
};

}  // namespace

std::unique_ptr<stage::TrainingPart> make_torch_training_part(std::vector<TrainableBlock> blocks,
                                                              const PartOptions& options) {
  return std::make_unique<TorchTrainingPart>(std::move(blocks), options);
}

}  // namespace paretopipe::train
