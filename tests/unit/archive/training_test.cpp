// Archives that are trained: bit for bit as LibTorch trains the module itself, whole and in slices.
#include <paretopipe/compute/archive/script_backend.hpp>
#include <paretopipe/compute/torch/tensors.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/stage/training_data.hpp>
#include <paretopipe/stage/training_part.hpp>

#include <map>

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <support/catch.hpp>
#include <support/message_of.hpp>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/optim/sgd.h>

#include "archives.hpp"

namespace paretopipe::archive {
namespace {

using experiment::BlockRange;
using State = std::map<std::string, at::Tensor>;

constexpr std::size_t kSteps = 2, kMicroBatches = 2;
constexpr double kShare = 1.0 / kMicroBatches;

stage::TrainingTask task_of(const std::filesystem::path& archive, int max_crossing = 1) {
  auto request = request_for(archive, "all", 4, max_crossing);
  request.num_classes = 5;
  request.archive->trained = true;
  return {request, {.optimizer = {experiment::OptimizerKind::sgd, 0.1, 0.9, 0.01}}, kMicroBatches, kSteps};
}

std::string refusal_to_train(const std::string& forward, Numbers where = Numbers::attributes) {
  return refusal_of(task_of(WrittenArchive(forward, where).path).model);
}

/// What dropouts of the block draw from, as a stage seeds it.
void seed(std::size_t step, std::size_t index, int block) {
  at::manual_seed(fnv1a64(fmt::format("1/{}/{}/{}", step, index, block)));
}

/// TorchScript is computed as Python computes the module. While this lives, LibTorch does not inline calls, either.
struct OperatorByOperator {
  OperatorByOperator() { torch::jit::setGraphExecutorOptimize(false); }
  ~OperatorByOperator() { torch::jit::setGraphExecutorOptimize(true); }
  OperatorByOperator(const OperatorByOperator&) = delete;
  OperatorByOperator& operator=(const OperatorByOperator&) = delete;
};

/// The module itself, trained by LibTorch alone, on the data that the task has.
State trained_by_libtorch(const std::filesystem::path& archive, const stage::TrainingTask& task,
                          int dropout_block = 0) {
  auto module = torch::jit::load(archive.string());
  module.train();
  const OperatorByOperator executor;
  std::vector<at::Tensor> parameters;
  for (const auto& parameter : module.parameters()) parameters.push_back(parameter);
  torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01));
  const auto backend = make_script_backend();
  backend->configure({});
  const stage::TrainingData data(task, true, true, *backend);
  for (std::size_t step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    for (std::size_t index = 0; index < kMicroBatches; ++index) {
      const auto& input = data.input({step, index});
      const auto images = at::from_blob(input.bytes.data(), input.spec.shape, at::TensorOptions(at::kFloat)).clone();
      const auto labels = data.labels({step, index});
      const auto classes = at::from_blob(const_cast<std::int64_t*>(labels.data()), {4}, at::TensorOptions(at::kLong));
      seed(step, index, dropout_block);
      const auto result = module.forward({images});
      const auto scores = result.isTuple() ? result.toTupleRef().elements()[0].toTensor() : result.toTensor();
      at::cross_entropy_loss(scores, classes).mul(kShare).backward();
    }
    optimizer.step();
  }
  State state;
  for (const auto& entry : module.named_parameters()) state[entry.name] = entry.value.detach();
  for (const auto& entry : module.named_buffers()) state[entry.name] = entry.value;
  return state;
}

/// The same in stages: forward through all of them, then backward.
State trained_in_stages(const stage::TrainingTask& task, const std::vector<BlockRange>& parts) {
  const auto backend = make_script_backend();
  backend->configure({});
  const stage::TrainingData data(task, true, true, *backend);
  std::vector<std::unique_ptr<stage::TrainingPart>> stages;
  for (const auto& part : parts) stages.push_back(backend->make_training_part(task.model, part, task.training));
  for (std::size_t step = 0; step < kSteps; ++step) {
    for (std::size_t index = 0; index < kMicroBatches; ++index) {
      auto activation = data.input({step, index});
      for (auto& stage : stages)
        activation = stage->forward({step, index}, std::move(activation), experiment::Backward::later);
      stages.back()->loss({step, index}, data.labels({step, index}), kShare);
    }
    for (std::size_t index = 0; index < kMicroBatches; ++index) {
      stage::Activation gradient;
      for (std::size_t i = stages.size(); i-- > 0;) gradient = stages[i]->backward({step, index}, std::move(gradient));
    }
    for (auto& stage : stages) stage->update(0.1);
  }
  State state;
  for (const auto& stage : stages) {
    for (auto& [name, tensor] : stage->state()) {
      CHECK_FALSE(state.contains(name));
      state[name] = compute::to_tensor(tensor).clone();
    }
  }
  return state;
}

void check_equal(const State& ours, const State& theirs) {
  REQUIRE(ours.size() == theirs.size());
  for (const auto& [name, tensor] : theirs) {
    CAPTURE(name);
    REQUIRE(ours.contains(name));
    CHECK(at::equal(ours.at(name), tensor));
  }
}

int blocks_of(const stage::TrainingTask& task) {
  return make_script_backend()->describe(task.model).block_count();
}

/// Two stages train to the state, wherever the cut between them is.
void check_every_cut(const stage::TrainingTask& task, const State& expected) {
  const int end = blocks_of(task);
  for (int cut = 0; cut <= end; ++cut) {
    CAPTURE(cut);
    check_equal(trained_in_stages(task, {{0, cut}, {cut, end}}), expected);
  }
}

struct Trained {
  const char* what;
  const char* forward;
  int max_crossing = 1;
};

// clang-format off
const std::vector<Trained> kTrained{
    {"a classifier with batch norms, residual blocks and operators in place", kClassifier},
    {"a classifier that two tensors may cross", kClassifier, 2},
    {"weights of its own beside layers, and a buffer of indices",
     "def forward(self, x):\n  x = torch.tanh(self.conv1.forward(x)) * self.scale\n  x = torch.index_select(x, 1, self.order)\n"
     "  return self.fc.forward(torch.flatten(self.act.forward(x), 1))\n"},
    {"a batch norm and an operator that occur twice on one tensor, whose gradients are two",
     "def forward(self, x):\n  x = self.bn.forward(self.conv1.forward(x))\n  x = torch.tanh(x) + torch.tanh(x)\n"
     "  return self.fc.forward(torch.flatten(x, 1))\n"},
    {"code that asks whether it trains, with a loop that it can do without",
     "def forward(self, x):\n  if self.training:\n    n = 1\n    for i in range(len(torch.size(x))):\n      n = n * torch.size(x)[i]\n"
     "    x = self.conv1.forward(x)\n  else:\n    x = self.conv2.forward(x)\n"
     "  return self.fc.forward(torch.flatten(x, 1))\n"},
    {"a mask of minus infinity, added to scores",
     "def forward(self, x):\n  x = torch.softmax(self.conv1.forward(x) + self.mask, 1)\n  x = self.conv2.forward(x)\n"
     "  return self.fc.forward(torch.flatten(self.act.forward(x), 1))\n"},
    {"an input divided by its spread, which would be 0 / 0 of zeros, before a batch norm",
     "def forward(self, x):\n  x = self.bn.forward(self.conv1.forward(x / torch.std(x, True)))\n"
     "  return self.fc.forward(torch.flatten(x, 1))\n"},
    {"a tuple, whose first tensor is learned from",
     "def forward(self, x):\n  x = self.act.forward(self.conv1.forward(x))\n  return self.fc.forward(torch.flatten(x, 1)), x\n"},
};
// clang-format on

}  // namespace

TEST_CASE("an archive trains as LibTorch trains it, to the last bit of its state_dict, whole and over every split") {
  for (const auto& [what, forward, max_crossing] : kTrained) {
    INFO(what);
    const WrittenArchive archive(forward);
    const auto task = task_of(archive.path, max_crossing);
    check_every_cut(task, trained_by_libtorch(archive.path, task));
  }
}

TEST_CASE("a stage without blocks of an archive needs no file") {
  const WrittenArchive archive(
      "def forward(self, x):\n  return self.fc.forward(torch.flatten(self.conv1.forward(x), 1))\n");
  const auto task = task_of(archive.path);
  const auto backend = make_script_backend();
  backend->configure({});
  std::filesystem::remove(archive.path);
  const auto part = backend->make_training_part(task.model, {0, 0}, task.training);
  CHECK(part->digests().empty());
  CHECK_THROWS_AS(backend->make_training_part(task.model, {0, 1}, task.training), Error);
}

TEST_CASE("an archive that was made for evaluation drops and averages statistics when it is trained") {
  const auto net = [](const char* training) {
    return fmt::format(
        "def forward(self, x):\n"
        "  x = torch.batch_norm(self.conv1.forward(x), self.bn.weight, self.bn.bias, self.bn.running_mean, "
        "self.bn.running_var, {0}, 0.1, 1e-5, True)\n"
        "  return self.fc.forward(torch.flatten(torch.dropout(x, 0.5, {0}), 1))\n",
        training);
  };
  const WrittenArchive archive(net("False")), in_training(net("True"));
  const auto task = task_of(archive.path);
  REQUIRE(blocks_of(task) == 5);  // the dropout is block 2
  check_every_cut(task, trained_by_libtorch(in_training.path, task, 2));
}

TEST_CASE("recomputing the forward of an archive changes no bit, dropouts and statistics included") {
  const WrittenArchive archive(
      "def forward(self, x):\n  x = torch.dropout(self.bn.forward(self.conv1.forward(x)), 0.5, self.training)\n"
      "  return self.fc.forward(torch.flatten(self.block.forward(x), 1))\n");
  auto task = task_of(archive.path);
  const int end = blocks_of(task), cut = end / 2;
  const auto whole = trained_in_stages(task, {{0, end}});
  task.training.recompute = true;
  check_equal(trained_in_stages(task, {{0, cut}, {cut, end}}), whole);
}

TEST_CASE("a batch norm's count of batches is that of PyTorch, whether or not the archive counts") {
  for (const auto* forward :
       {"def forward(self, x):\n  _ = torch.add_(self.counted.num_batches_tracked, 1)\n"
        "  return self.fc.forward(torch.flatten(self.counted.forward(self.conv1.forward(x)), 1))\n",
        "def forward(self, x):\n  return self.fc.forward(torch.flatten(self.counted.forward(self.conv1.forward(x)), "
        "1))\n"}) {
    const WrittenArchive archive(forward);
    const auto task = task_of(archive.path);
    const auto state = trained_in_stages(task, {{0, 1}, {1, blocks_of(task)}});
    CHECK(state.at("counted.num_batches_tracked").item<std::int64_t>() == kSteps * kMicroBatches);
  }
}

TEST_CASE("a model that takes its input for indices is tried with indices, trained or not") {
  const WrittenArchive archive(
      "def forward(self, x):\n  x = torch.embedding(torch.flatten(self.scale, 1), torch.to(x, 4))\n"
      "  return self.fc.forward(torch.flatten(x, 1))\n");
  auto model = task_of(archive.path).model;
  CHECK_NOTHROW(make_script_backend()->describe(model));
  model.archive->trained = false;
  CHECK_NOTHROW(make_script_backend()->describe(model));
}

TEST_CASE("the multiply-accumulates of a model are those of its forward, whether or not it is trained") {
  const WrittenArchive archive(kClassifier);
  auto model = task_of(archive.path).model;
  const auto total = [&] {
    std::int64_t sum = 0;
    for (const auto& block : make_script_backend()->describe(model).blocks) sum += block.multiply_accumulates;
    return sum;
  };
  constexpr std::int64_t kBatch = 4, kConvolution = 64 * 4 * 3 * 3, kLinear = 64 * 5;
  CHECK(total() == kBatch * (3 * kConvolution + kLinear));
  model.archive->trained = false;
  CHECK(total() == kBatch * (3 * kConvolution + kLinear));
}

TEST_CASE("a batch norm that would see one value per channel is refused, and learns from more") {
  const WrittenArchive archive(
      "def forward(self, x):\n  x = torch.mean(self.conv1.forward(x), [2, 3])\n"
      "  x = torch.batch_norm(x, self.bn.weight, self.bn.bias, self.bn.running_mean, self.bn.running_var, "
      "self.training, 0.1, 1e-5, True)\n  return torch.cat([x, torch.slice(x, 1, 0, 1)], 1)\n");
  auto model = task_of(archive.path).model;
  CHECK_NOTHROW(make_script_backend()->describe(model));
  model.batch = 1;
  CHECK(support::contains(refusal_of(model), "more than one value per channel"));
}

TEST_CASE("what an archive has that cannot be trained is named") {
  const struct {
    const char* forward;
    const char* reason;
  } refused[]{
      {"def forward(self, x):\n  x = self.conv1.forward(x)\n  return "
       "self.fc.forward(torch.flatten(self.conv1.forward(x), 1))\n",
       "blocks 1 and 2 share conv1.weight"},
      {"def forward(self, x):\n  if bool(torch.gt(torch.sum(x), 0)):\n    x = self.conv1.forward(x)\n"
       "  return self.fc.forward(torch.flatten(x, 1))\n",
       "control flow"},
      {"def forward(self, x):\n  _ = torch.add_(self.scale, 1)\n  return self.fc.forward(torch.flatten(x * self.scale, "
       "1))\n",
       "overwrites"},
      {"def forward(self, x):\n  return self.fc.forward(torch.flatten(x + torch.rand([4]), 1))\n", "random"},
      {"def forward(self, x):\n  x = self.fc.forward(torch.flatten(x, 1))\n  return torch.argmax(x, 1)\n",
       "must be float32"},
      {"def forward(self, x):\n  return torch.detach(self.fc.forward(torch.flatten(x, 1)))\n", "have a gradient"},
      {"def forward(self, x):\n  return self.conv1.forward(x)\n", "one row of class scores"},
      {"def forward(self, x):\n  _ = torch.add_(self.counted.num_batches_tracked, 1)\n"
       "  return self.fc.forward(torch.flatten(x, 1)) / float(self.counted.num_batches_tracked)\n",
       "momentum=None"},
      {"def forward(self, x):\n  x = torch.batch_norm(x, self.bn.weight, self.bn.bias, self.bn.running_mean, "
       "self.bn.running_var, False, 0., 1e-5, True)\n  return self.fc.forward(torch.flatten(x, 1))\n",
       "momentum of 0"},
  };
  for (const auto& [forward, reason] : refused) {
    const auto message = refusal_to_train(forward);
    INFO(message << " should have: " << reason);
    CHECK(support::contains(message, reason));
  }
  CHECK(support::contains(refusal_to_train(kClassifier, Numbers::constants), "save it unfrozen"));
  CHECK(support::contains(refusal_to_train(kClassifier, Numbers::both), "constants for weights"));
}

}  // namespace paretopipe::archive
