#pragma once
#include <paretopipe/experiment/schedule.hpp>
#include <paretopipe/stage/backend.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace paretopipe::stage {

/// A micro-batch of training: its step, and its place in the step's batch, both from 0.
struct MicroBatch {
  std::size_t step = 0;
  std::size_t index = 0;

  auto operator<=>(const MicroBatch&) const = default;
};

/// The loss of a micro-batch, and how many of its samples were given their label's class.
struct Learned {
  double loss = 0;
  std::int64_t correct = 0;
};

/// A parameter or buffer under its name in PyTorch's state_dict.
struct NamedState {
  std::string name;
  Activation tensor;
};

/// What a training part holds besides its blocks' parameters and buffers.
struct TrainingBytes {
  std::int64_t parameters = 0;  ///< and buffers, in one version
  std::int64_t optimizer = 0;   ///< state of the optimiser
};

/// Some consecutive blocks of a model while they are trained, with the state of their optimiser. Several micro-batches
/// may have been computed forward and not yet backward; each is computed backward with the weights of its forward,
/// whatever updates come in between. All calls come from one thread. Errors are thrown as paretopipe::Error.
class TrainingPart {
 public:
  virtual ~TrainingPart() = default;

  /// Runs the blocks forward and keeps what their backward needs. All micro-batches are computed alike but for the
  /// elements that a dropout drops, which depend on the micro-batch and the block only. With `recompute`, only the
  /// input is kept, unless the backward is next: all that it needs would have to be there at once in any case.
  virtual Activation forward(MicroBatch which, Activation input, experiment::Backward backward) = 0;

  /// The cross-entropy of this micro-batch's outputs, for the stage of the last block: the mean over its labels times
  /// `share`, its part of the batch. Call after `forward`. From then on the loss stands for the output.
  virtual Learned loss(MicroBatch which, std::span<const std::int64_t> labels, double share) = 0;

  /// Computes the micro-batch backward and adds to the gradients of the parameters. `gradient` is that of the outputs
  /// that are floating-point numbers, in an Activation like theirs; it has no bytes after `loss`. Returns the gradient
  /// of the inputs, or no bytes if the part begins with the model's first block.
  virtual Activation backward(MicroBatch which, Activation gradient) = 0;

  /// The gradients that were added since the last update, one number after the other in the order of the parameters; 0
  /// where no backward reached a parameter. The next update takes them from here, so that they may be changed before.
  virtual std::span<float> gradients() = 0;

  /// Changes the parameters by the gradients that were added since the last update, which are then zero.
  virtual void update(double learning_rate) = 0;

  /// For each block, the SHA-256 of its parameters, buffers and optimiser state.
  virtual std::vector<std::string> digests() const = 0;

  virtual TrainingBytes bytes() const = 0;

  /// All parameters and buffers, in the order of the blocks. They change with the next update.
  virtual std::vector<NamedState> state() const = 0;
};

}  // namespace paretopipe::stage
