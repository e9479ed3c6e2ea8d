#pragma once
#include <paretopipe/compute/torch/samples.hpp>
#include <paretopipe/stage/backend.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <torch/csrc/jit/ir/ir.h>

#include "program.hpp"

namespace paretopipe::compute {

/// A block that is ready to compute.
struct HeldBlock {
  /// Computes in eager mode, with weights that are already in the mode. May overwrite the inputs.
  std::function<Tensors(Tensors)> run;
  std::vector<at::Tensor> tensors;             ///< parameters and buffers
  std::shared_ptr<torch::jit::Graph> graph{};  ///< of an archive's block; null for a network that has to be traced
};

/// A model from which single blocks can be made.
struct OpenModel {
  int block_count = 0;
  std::function<HeldBlock(int block)> make_block;
};

/// Where a backend's blocks come from: the zoo, or archives. Call everything but models() and make_training_part()
/// under c10::InferenceMode.
class BlockSource {
 public:
  virtual ~BlockSource() = default;

  /// As stage::Backend::models.
  virtual std::vector<std::string> models() const = 0;

  /// What the request's model takes. Throws UsageError for a request that this source does not understand.
  virtual Sample sample_of(const stage::ModelRequest& request) const = 0;

  /// As stage::Backend::describe, for data that the model takes.
  virtual experiment::ModelDescription describe(const stage::ModelRequest& request) const = 0;

  /// The parts of a request that determine the blocks.
  virtual stage::ModelRequest identity(const stage::ModelRequest& request) const = 0;

  /// May take long. Throws UsageError for a request whose blocks cannot be made.
  virtual OpenModel open(const stage::ModelRequest& request) const = 0;

  /// As stage::Backend::make_training_part.
  virtual std::unique_ptr<stage::TrainingPart> make_training_part(const stage::ModelRequest& request,
                                                                  experiment::BlockRange range,
                                                                  const experiment::Training& training) const = 0;

  /// Makes one float32 graph of consecutive blocks, without control-flow blocks or mutation, for inputs of the shapes
  /// and types of `examples`. The caller may rewrite it.
  virtual std::shared_ptr<torch::jit::Graph> graph_of(const std::vector<const HeldBlock*>& blocks,
                                                      const Tensors& examples) const = 0;
};

/// Runs the source's blocks on LibTorch, in any experiment::ComputeMode, without autograd. Thread safety and errors are
/// as stage::Backend states; LibTorch's own exceptions are converted to paretopipe::Error.
std::unique_ptr<stage::Backend> make_torch_backend(std::unique_ptr<const BlockSource> source);

}  // namespace paretopipe::compute
