#pragma once
#include <paretopipe/compute/train/torch_training_part.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "archive_model.hpp"

namespace paretopipe::archive {

/// The block to which each tensor of PreparedModel::state belongs: the first one that computes with it, or the last of
/// all if no block needs it. The blocks are those between neighbouring `boundaries`. Throws UsageError if two blocks
/// need a tensor that training changes: each would have its own.
std::vector<std::size_t> owners_of_state(const PreparedModel& model, const std::vector<Cut>& boundaries);

/// What a model computes between two cuts, as a block that can be trained. It has the tensors of PreparedModel::state
/// whose numbers are in `own`. Others that it needs do not change, and it gets copies of them. Does not keep the model.
train::TrainableBlock trainable_block(const PreparedModel& model, const Cut& begin, const Cut& end,
                                      const std::vector<std::size_t>& own);

/// What lies between two cuts, computed once.
struct Trial {
  compute::Tensors results{};
  std::int64_t multiply_accumulates = 0;  ///< of the forward alone
};

/// Computes what lies between two cuts forward and backward once, to see that it has a gradient. Returns the results
/// without their graph. A result requires a gradient if something that learns lies before it. Throws UsageError if a
/// buffer becomes NaN or infinite, and what LibTorch throws for an operator without a gradient. Must not be called
/// while something else counts multiply-accumulates.
Trial try_training(const PreparedModel& model, const Cut& begin, const Cut& end, const compute::Tensors& inputs);

}  // namespace paretopipe::archive
