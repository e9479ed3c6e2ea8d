#pragma once
#include <paretopipe/compute/train/torch_training_part.hpp>

#include <cstddef>
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

/// Computes what lies between two cuts forward and backward once, to see that it has a gradient. Returns the results
/// without their graph. A result requires a gradient if something that learns lies before it. Throws what LibTorch
/// throws for an operator without a gradient.
compute::Tensors try_training(const PreparedModel& model, const Cut& begin, const Cut& end,
                              const compute::Tensors& inputs);

}  // namespace paretopipe::archive
