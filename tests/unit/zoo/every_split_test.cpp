// Every split of a model, into any number of stages, trains alike. A stage is a run of consecutive blocks; there are N
// (N + 1) / 2 of them. If each of these makes, of the activations and gradients that the single blocks make at its
// ends, the same outputs, gradients and weights as the single blocks do, to the last bit, then so does every pipeline
// of such stages, by induction over its stages.
#include <paretopipe/compute/torch/tensors.hpp>
#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/compute/zoo/zoo.hpp>
#include <paretopipe/stage/training_part.hpp>

#include <array>
#include <cstring>

#include <ATen/Context.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <support/catch.hpp>

namespace paretopipe::zoo {
namespace {

using experiment::Backward;
using experiment::BlockRange;
using experiment::Training;
using stage::Activation;

constexpr std::size_t kMicroBatches = 2;
constexpr double kShare = 1.0 / kMicroBatches;
constexpr std::array<std::array<std::int64_t, 2>, kMicroBatches> kLabels{{{3, 7}, {0, 9}}};

/// Both micro-batches forward and then backward, or each in turn.
enum class Order { gpipe, in_turn };

using Crossing = std::array<Activation, kMicroBatches>;

/// What crosses the cuts before each block, and what the blocks' weights become.
struct Trace {
  std::vector<Crossing> activations;
  std::vector<Crossing> gradients;
  std::vector<std::string> digests;
};

/// A model that trains for one step on small inputs.
class SmallTraining {
 public:
  SmallTraining(const std::string& model, const Training& training)
      : end(find_model(model).block_count),
        training_(training),
        request_{.model = model, .num_classes = 10, .batch = 2, .seed = 3, .data = "random"},
        backend_(make_model_backend()) {
    backend_->configure({});
    at::manual_seed(5);
    for (auto& input : inputs_) {
      input = compute::to_activation(find_model(model).vocabulary > 0 ? at::randint(5, 1000, {2, 12}, at::kLong)
                                                                      : at::randn({2, 3, 32, 32}));
    }
  }

  Trace trace_of_single_blocks() {
    Trace trace{{inputs_}, std::vector<Crossing>(static_cast<std::size_t>(end) + 1), {}};
    std::vector<std::unique_ptr<stage::TrainingPart>> blocks;
    for (int block = 0; block < end; ++block) {
      blocks.push_back(part({block, block + 1}));
      auto& outputs = trace.activations.emplace_back();
      for (std::size_t i = 0; i < kMicroBatches; ++i) {
        outputs[i] = blocks.back()->forward({0, i}, copied(trace.activations[static_cast<std::size_t>(block)][i]),
                                            Backward::later);
        if (block + 1 == end) blocks.back()->loss({0, i}, kLabels[i], kShare);
      }
    }
    for (auto block = static_cast<std::size_t>(end); block-- > 0;) {
      for (std::size_t i = 0; i < kMicroBatches; ++i) {
        trace.gradients[block][i] = blocks[block]->backward({0, i}, copied(trace.gradients[block + 1][i]));
      }
    }
    for (auto& block : blocks) {
      block->update(training_.optimizer.learning_rate);
      trace.digests.push_back(block->digests().front());
    }
    return trace;
  }

  /// True if the run of blocks does what its blocks did one by one.
  bool is_alike(BlockRange range, Order order, const Trace& trace) {
    const auto own = part(range);
    bool alike = true;
    const auto forward = [&](std::size_t i) {
      const auto output = own->forward({0, i}, copied(trace.activations[static_cast<std::size_t>(range.begin)][i]),
                                       order == Order::in_turn ? Backward::next : Backward::later);
      if (range.end == end) own->loss({0, i}, kLabels[i], kShare);
      alike = alike && same(output, trace.activations[static_cast<std::size_t>(range.end)][i]);
    };
    const auto backward = [&](std::size_t i) {
      const auto gradient = own->backward({0, i}, copied(trace.gradients[static_cast<std::size_t>(range.end)][i]));
      alike = alike && same(gradient, trace.gradients[static_cast<std::size_t>(range.begin)][i]);
    };
    for (std::size_t i = 0; i < kMicroBatches; ++i) {
      forward(i);
      if (order == Order::in_turn) backward(i);
    }
    for (std::size_t i = 0; order == Order::gpipe && i < kMicroBatches; ++i) backward(i);
    own->update(training_.optimizer.learning_rate);
    const auto first = trace.digests.begin() + range.begin;
    return alike && own->digests() == std::vector<std::string>(first, first + range.end - range.begin);
  }

  const int end;

 private:
  std::unique_ptr<stage::TrainingPart> part(BlockRange range) {
    return backend_->make_training_part(request_, range, training_);
  }

  /// As over a link: the bytes, in memory of the receiver's own.
  Activation copied(const Activation& from) {
    if (from.bytes.empty()) return {};
    auto copy = backend_->allocate(from.spec);
    std::memcpy(copy.bytes.data(), from.bytes.data(), from.bytes.size());
    for (const auto& other : from.others) copy.others.push_back(copied(other));
    return copy;
  }

  static bool same(const Activation& left, const Activation& right) {
    bool equal = left.tensors() == right.tensors();
    for (std::size_t i = 0; equal && i < left.tensors(); ++i) {
      const auto &one = left.tensor(i).bytes, &other = right.tensor(i).bytes;
      equal = one.size() == other.size() && (one.empty() || std::memcmp(one.data(), other.data(), one.size()) == 0);
    }
    return equal;
  }

  Training training_;
  stage::ModelRequest request_;
  std::unique_ptr<stage::Backend> backend_;
  Crossing inputs_;
};

/// Runs that begin at every `stride`-th block. Returns how many were checked.
int check_every_run(const std::string& model, bool recompute, int stride = 1) {
  const Training training{.optimizer = {experiment::OptimizerKind::sgd, 0.02, 0.9, 1e-3}, .recompute = recompute};
  SmallTraining small(model, training);
  const auto trace = small.trace_of_single_blocks();
  int runs = 0;
  for (int begin = 0; begin < small.end; begin += stride) {
    for (int end = begin + 1; end <= small.end; ++end) {
      for (const auto order : {Order::gpipe, Order::in_turn}) {
        CAPTURE(model, recompute, begin, end, static_cast<int>(order));
        CHECK(small.is_alike({begin, end}, order, trace));
      }
      ++runs;
    }
  }
  return runs;
}

}  // namespace

TEST_CASE("runs of blocks of ResNet-18 and MobileNetV2 train to the same bits as their blocks one by one") {
  CHECK(check_every_run("resnet18", false, 3) > 0);
  CHECK(check_every_run("mobilenet_v2", false, 5) > 0);
}

TEST_CASE(
    "every run of blocks of ResNet-18, MobileNetV2, DenseNet-CIFAR and RoBERTa trains as its blocks do one by one",
    "[.every]") {
  const auto* model = GENERATE("resnet18", "mobilenet_v2", "densenet_cifar", "roberta_base");
  const auto blocks = find_model(model).block_count;
  CHECK(check_every_run(model, false) == blocks * (blocks + 1) / 2);
}

TEST_CASE("every run of blocks trains to the same bits when its forwards are recomputed", "[.every]") {
  for (const auto* model : {"resnet18", "mobilenet_v2"}) check_every_run(model, true);
}

}  // namespace paretopipe::zoo
