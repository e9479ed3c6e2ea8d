// Training on LibTorch's autograd: a cut, a schedule and recomputation change no bit, and the optimisers are PyTorch's.
#include <paretopipe/compute/train/optimizer.hpp>
#include <paretopipe/compute/train/torch_training_part.hpp>
#include <paretopipe/compute/zoo/block.hpp>
#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/compute/zoo/zoo.hpp>
#include <paretopipe/stage/training_data.hpp>
#include <paretopipe/stage/training_reference.hpp>

#include <deque>

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/randn.h>
#include <support/catch.hpp>
#include <torch/csrc/autograd/variable.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

namespace paretopipe::zoo {
namespace {

using experiment::Backward;
using experiment::BlockRange;
using experiment::OptimizerKind;
using experiment::Schedule;
using experiment::Training;
using stage::MicroBatch;

constexpr int kImages = 2;  ///< of a micro-batch: a batch norm over one pixel needs two

const experiment::Optimizer kMomentum{OptimizerKind::sgd, 0.02, 0.9, 1e-3};

stage::TrainingTask task_of(const std::string& model, const Training& training) {
  const stage::ModelRequest request{.model = model, .num_classes = 10, .batch = kImages, .seed = 3, .data = "random"};
  return {request, training, 3, 2};
}

stage::TrainingReference trained(const std::string& model, const Training& training, std::vector<BlockRange> parts,
                                 int steps = 2) {
  const auto backend = make_model_backend();
  backend->configure({});
  return stage::compute_training_reference({task_of(model, training), std::move(parts), steps}, *backend);
}

/// The same parts, as stages of a pipeline compute them: every micro-batch of a step forward through all of them, and
/// then backward.
std::vector<std::string> trained_in_stages(const std::string& model, const Training& training,
                                           const std::vector<BlockRange>& parts, int steps = 2) {
  const auto backend = make_model_backend();
  backend->configure({});
  const auto task = task_of(model, training);
  const stage::TrainingData data(task, true, true, *backend);
  std::vector<std::unique_ptr<stage::TrainingPart>> stages;
  for (const auto& part : parts) stages.push_back(backend->make_training_part(task.model, part, training));
  for (std::size_t step = 0; step < static_cast<std::size_t>(steps); ++step) {
    for (std::size_t index = 0; index < 3; ++index) {
      auto activation = data.input({step, index});
      for (auto& stage : stages) activation = stage->forward({step, index}, std::move(activation), Backward::later);
      stages.back()->loss({step, index}, data.labels({step, index}), 1.0 / 3);
    }
    for (std::size_t index = 0; index < 3; ++index) {
      stage::Activation gradient;
      for (std::size_t i = stages.size(); i-- > 0;) gradient = stages[i]->backward({step, index}, std::move(gradient));
    }
    for (auto& stage : stages) stage->update(training.optimizer.learning_rate);
  }
  std::vector<std::string> digests;
  for (const auto& stage : stages) {
    for (auto& digest : stage->digests()) digests.push_back(std::move(digest));
  }
  return digests;
}

int blocks_of(const std::string& model) {
  return find_model(model).block_count;
}

}  // namespace

TEST_CASE(
    "a cut changes no bit of weights, statistics and momentum, with batch norms and dropouts, for 2 to 4 stages") {
  const auto* model = GENERATE("mobilenet_v2", "densenet_cifar", "roberta_base");
  const Training training{.schedule = Schedule::gpipe, .optimizer = kMomentum};
  const int end = blocks_of(model);
  const auto whole = trained(model, training, {{0, end}});
  CAPTURE(model);
  CHECK(trained_in_stages(model, training, {{0, 2}, {2, end / 2}, {end / 2, end}}) == whole.digests);
  if (model != std::string("densenet_cifar")) return;  // which is fast
  for (int cut = 0; cut <= end; cut += 7) {
    CAPTURE(cut);
    CHECK(trained_in_stages(model, training, {{0, cut}, {cut, end}}) == whole.digests);
  }
  CHECK(trained_in_stages(model, training, {{0, 1}, {1, 3}, {3, 3}, {3, end}}) == whole.digests);
}

TEST_CASE("a stage that begins or ends at any block of AlexNet, where ReLUs are blocks, trains") {
  const Training training{.optimizer = kMomentum};
  const int end = blocks_of("alexnet");
  const auto whole = trained("alexnet", training, {{0, end}}, 1);
  for (const int cut : {1, 13}) {
    CAPTURE(cut);
    CHECK(trained_in_stages("alexnet", training, {{0, cut}, {cut, end}}, 1) == whole.digests);
  }
}

TEST_CASE("replicas that each compute a share make of a model what one makes that takes the sum of their gradients") {
  const std::string model = "densenet_cifar";
  auto task = task_of(model, {.optimizer = kMomentum});
  task.micro_batches = 4;
  const auto of_replicas = [&](int replicas) {
    const auto backend = make_model_backend();
    backend->configure({});
    task.replicas = replicas;
    return stage::compute_training_reference({task, {{0, blocks_of(model)}}, 2}, *backend);
  };
  const auto one = of_replicas(1);
  for (const int replicas : {2, 4}) {
    CAPTURE(replicas);
    const auto some = of_replicas(replicas);
    REQUIRE(some.digests.size() == static_cast<std::size_t>(replicas) * one.digests.size());
    // The first losses are of equal weights; the second ones of sums in another order, and of batch norms of their own.
    CHECK(some.losses[0] == Approx(one.losses[0]).epsilon(1e-6));
    CHECK(some.losses[1] == Approx(one.losses[1]).epsilon(1e-3));
  }
}

TEST_CASE("gradients that are looked at change nothing, and those that are changed do") {
  const std::string model = "mobilenet_v2";
  const Training training{.optimizer = kMomentum};
  const auto backend = make_model_backend();
  backend->configure({});
  const auto task = task_of(model, training);
  const stage::TrainingData data(task, true, true, *backend);
  const auto digests = [&](auto look) {
    const auto part = backend->make_training_part(task.model, {0, blocks_of(model)}, training);
    for (std::size_t step = 0; step < 2; ++step) {
      part->forward({step, 0}, data.input({step, 0}), Backward::next);
      part->loss({step, 0}, data.labels({step, 0}), 1);
      part->backward({step, 0}, {});
      look(*part);
      part->update(0.1);
    }
    return part->digests();
  };
  const auto plain = digests([](stage::TrainingPart&) {});
  CHECK(digests([](stage::TrainingPart& part) { CHECK(part.gradients().size() > 2'000'000); }) == plain);
  CHECK(digests([](stage::TrainingPart& part) {
          for (auto& gradient : part.gradients()) gradient *= 2;
        }) != plain);
}

TEST_CASE("recomputing forwards changes no bit, running statistics and dropped elements included") {
  const std::string model = "mobilenet_v2";
  const int end = blocks_of(model), cut = end / 2;
  Training training{.optimizer = kMomentum};
  const auto whole = trained(model, training, {{0, end}});
  training.recompute = true;
  CHECK(trained_in_stages(model, training, {{0, cut}, {cut, end}}) == whole.digests);
  // In one process the last part of 1f1b keeps what the backward that comes next needs.
  CHECK(trained(model, training, {{0, cut}, {cut, end}}).digests == whole.digests);
}

TEST_CASE("recomputing keeps the input alone, unless the backward is what a part does next") {
  const Training training{.optimizer = kMomentum, .recompute = true};
  const auto backend = make_model_backend();
  backend->configure({});
  const auto task = task_of("mobilenet_v2", training);
  const stage::TrainingData data(task, true, true, *backend);
  const auto part = backend->make_training_part(task.model, {0, blocks_of("mobilenet_v2")}, training);
  const auto kept_for = [&](MicroBatch which, Backward backward) {
    const stage::TensorWatch watch;
    part->forward(which, data.input(which), backward);
    part->loss(which, data.labels(which), 1);
    const auto kept = watch.now();
    part->backward(which, {});
    return kept;
  };
  CHECK(kept_for({0, 0}, Backward::next) > 20 * kept_for({0, 1}, Backward::later));
}

namespace {

/// Blocks of a model as PyTorch would train them, without a part: for each version of their weights.
class PlainBlocks {
 public:
  PlainBlocks(const std::string& name, BlockRange range)
      : model_(find_model(name)), plan_(model_.plan(10)), range_(range) {
    for (int i = range.begin; i < range.end; ++i) {
      const c10::InferenceMode inference;
      tensors_.push_back(build_block(model_.name, plan_[static_cast<std::size_t>(i)], 3).tensors);
    }
    for (auto& block : tensors_) {
      for (auto& entry : block) entry.tensor = entry.tensor.clone().set_requires_grad(entry.learnable);
    }
  }

  /// A copy whose weights stay while this one's change.
  std::vector<std::vector<at::Tensor>> copied() const {
    std::vector<std::vector<at::Tensor>> copies;
    for (const auto& block : tensors_) {
      auto& own = copies.emplace_back();
      for (const auto& entry : block) {
        own.push_back(entry.learnable ? entry.tensor.detach().clone().set_requires_grad(true) : entry.tensor);
      }
    }
    return copies;
  }

  at::Tensor forward(std::vector<std::vector<at::Tensor>>& version, at::Tensor x) const {
    compute::Tensors crossing{std::move(x)};
    for (std::size_t i = 0; i < version.size(); ++i) {
      std::span<const at::Tensor> given(version[i]);
      const auto block = plan_[static_cast<std::size_t>(range_.begin) + i].build(Scope(model_.name, given));
      crossing = block(std::move(crossing));
    }
    return crossing.front();
  }

  /// w -= lr * gradient, whose gradients are of the version.
  void descend(std::vector<std::vector<at::Tensor>>& version, double rate) {
    const at::NoGradGuard no_graph;
    for (std::size_t i = 0; i < version.size(); ++i) {
      for (std::size_t j = 0; j < version[i].size(); ++j) {
        if (tensors_[i][j].learnable) tensors_[i][j].tensor.add_(version[i][j].grad(), -rate);
      }
    }
  }

  const std::vector<std::vector<NamedTensor>>& tensors() const { return tensors_; }

 private:
  const Model& model_;
  std::vector<BlockPlan> plan_;
  BlockRange range_;
  std::vector<std::vector<NamedTensor>> tensors_;
};

/// The digests of a part that holds these tensors and has not trained.
std::vector<std::string> digests_of(const PlainBlocks& blocks) {
  std::vector<train::TrainableBlock> held;
  for (auto tensors : blocks.tensors()) {
    for (auto& entry : tensors) entry.tensor = entry.tensor.detach();
    held.push_back({std::move(tensors), [](std::span<const at::Tensor>) -> train::Run { return {}; }});
  }
  return train::make_torch_training_part(std::move(held), {})->digests();
}

/// A stage of PipeDream that holds K - s versions of its weights. Micro-batches go through the oldest, and every update
/// makes a new one; so those of the last stage never wait, and those before it are as many updates behind as there are
/// stages in between.
class SimulatedStage {
 public:
  SimulatedStage(const std::string& model, BlockRange range, std::size_t versions) : blocks_(model, range) {
    while (versions_.size() < versions) versions_.push_back(blocks_.copied());
  }

  const at::Tensor& forward(const at::Tensor& input, bool is_activation) {
    input_ = input.detach().set_requires_grad(is_activation);
    output_ = blocks_.forward(versions_.front(), input_);
    return output_;
  }

  /// `result`: what the gradient is of, the loss or its own output. Returns the input's.
  at::Tensor backward(const at::Tensor& result, const at::Tensor& gradient, double rate) {
    result.backward(gradient);
    blocks_.descend(versions_.front(), rate);
    versions_.pop_front();
    versions_.push_back(blocks_.copied());
    return input_.grad();
  }

  const at::Tensor& output() const { return output_; }
  const PlainBlocks& blocks() const { return blocks_; }

 private:
  PlainBlocks blocks_;
  std::deque<std::vector<std::vector<at::Tensor>>> versions_;
  at::Tensor input_, output_;
};

}  // namespace

TEST_CASE(
    "pipedream computes each backward with the weights of its forward: two to four stages as PyTorch would simulate "
    "them") {
  constexpr double kRate = 0.02;
  const std::string model = "resnet18";
  const int end = blocks_of(model), count = 6;  // micro-batches
  std::vector<BlockRange> parts;
  for (const int cut : GENERATE(values<std::vector<int>>({{5}, {3, 7}, {2, 4, 8}}))) {
    parts.push_back({parts.empty() ? 0 : parts.back().end, cut});
  }
  parts.push_back({parts.back().end, end});
  const auto stage_count = parts.size();
  CAPTURE(stage_count);
  const Training training{.schedule = Schedule::pipedream, .optimizer = {OptimizerKind::sgd, kRate, 0, 0}};
  const auto piped = trained(model, training, parts);

  const auto backend = make_model_backend();
  backend->configure({});
  const stage::TrainingData data(task_of(model, training), true, true, *backend);
  std::vector<SimulatedStage> stages;
  for (std::size_t s = 0; s < stage_count; ++s) stages.emplace_back(model, parts[s], stage_count - s);
  for (int m = 0; m < count; ++m) {
    const stage::MicroBatch which{static_cast<std::size_t>(m / 3), static_cast<std::size_t>(m % 3)};
    const auto& activation = data.input(which);
    auto crossing =
        at::from_blob(activation.bytes.data(), activation.spec.shape, at::TensorOptions(at::kFloat)).clone();
    for (std::size_t s = 0; s < stage_count; ++s) crossing = stages[s].forward(crossing, s > 0);
    const auto labels = data.labels(which);
    const auto classes = at::from_blob(const_cast<std::int64_t*>(labels.data()), {2}, at::TensorOptions(at::kLong));
    auto gradient = stages.back().backward(at::cross_entropy_loss(crossing, classes).mul(1.0 / 3), {}, kRate);
    for (auto s = stage_count - 1; s-- > 0;) gradient = stages[s].backward(stages[s].output(), gradient, kRate);
  }
  std::vector<std::string> simulated;
  for (const auto& stage : stages) {
    for (auto& digest : digests_of(stage.blocks())) simulated.push_back(std::move(digest));
  }
  CHECK(piped.digests == simulated);
}

TEST_CASE("what is trained has the names of PyTorch's state_dict, learns, and is not what it was") {
  const Training training{.optimizer = {OptimizerKind::sgd, 0.05, 0.9, 0}};
  const int end = blocks_of("densenet_cifar");
  const auto before = trained("densenet_cifar", {.optimizer = {OptimizerKind::sgd, 0, 0, 0}}, {{0, end}}, 1);
  const auto after = trained("densenet_cifar", training, {{0, end}}, 12);
  CHECK(after.digests != before.digests);
  CHECK(after.losses[10] < 0.8 * after.losses[0]);  // of the same batch
}

namespace {

/// The parameter after some steps of ours and of torch::optim's, with the same gradients.
template <class Theirs, class Options>
void check_optimizer(const experiment::Optimizer& optimizer, const Options& options) {
  at::manual_seed(7);
  auto ours = at::randn({64}), theirs = ours.clone().set_requires_grad(true);
  Theirs reference({theirs}, options);
  train::ParameterState state;
  for (int step = 0; step < 20; ++step) {
    const auto gradient = at::randn({64});
    theirs.mutable_grad() = gradient.clone();
    reference.step();
    const at::NoGradGuard no_graph;
    train::update(optimizer, ours, gradient.clone(), state);
    REQUIRE(at::equal(ours, theirs));
  }
}

}  // namespace

TEST_CASE("sgd, adam and adamw are torch::optim's, to the last bit") {
  for (const double decay : {0.0, 0.01}) {
    for (const double momentum : {0.0, 0.9}) {
      check_optimizer<torch::optim::SGD>({OptimizerKind::sgd, 0.1, momentum, decay},
                                         torch::optim::SGDOptions(0.1).momentum(momentum).weight_decay(decay));
    }
    check_optimizer<torch::optim::Adam>({OptimizerKind::adam, 0.01, 0, decay},
                                        torch::optim::AdamOptions(0.01).weight_decay(decay));
    check_optimizer<torch::optim::AdamW>({OptimizerKind::adamw, 0.01, 0, decay},
                                         torch::optim::AdamWOptions(0.01).weight_decay(decay));
  }
}

}  // namespace paretopipe::zoo
