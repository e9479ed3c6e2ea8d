#pragma once
#include <paretopipe/compute/torch/named_tensor.hpp>
#include <paretopipe/compute/torch/program.hpp>
#include <paretopipe/experiment/training.hpp>
#include <paretopipe/stage/training_part.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace paretopipe::train {

/// The forward of a block that was bound to certain tensors. May overwrite what it computed itself, but not its inputs.
using Run = std::function<compute::Tensors(compute::Tensors)>;

/// A block as it is before training.
struct TrainableBlock {
  std::vector<compute::NamedTensor> tensors;
  /// Returns the block's forward in training mode with these tensors in place of its own, in the same order. Batch
  /// norms use a micro-batch's own statistics and add them to the running ones.
  std::function<Run(std::span<const at::Tensor>)> bind;
};

/// What a part trains besides its blocks.
struct PartOptions {
  int first_block = 0;     ///< the model's number of the first block
  std::uint64_t seed = 1;  ///< of what dropouts drop, together with step, micro-batch and the block's number
  experiment::Training training{};
};

/// A part on LibTorch's autograd, in float32, on the CPU. Between a micro-batch's forward and its backward it holds the
/// graph and what that has saved, or with `recompute` the input alone. The graph keeps the parameters of its forward:
/// an update while micro-batches are in flight makes new tensors.
std::unique_ptr<stage::TrainingPart> make_torch_training_part(std::vector<TrainableBlock> blocks,
                                                              const PartOptions& options);

}  // namespace paretopipe::train
