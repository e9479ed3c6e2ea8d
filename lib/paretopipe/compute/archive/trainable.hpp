#pragma once
#include <paretopipe/compute/train/torch_training_part.hpp>

#include <cstddef>
#include <vector>

#include "archive_model.hpp"

namespace paretopipe::archive {

/// Which block of a model that is to be trained has which of its tensors (PreparedModel::state): the first one that
/// computes with it, and the last of all for what no block needs. The blocks are those between neighbouring
/// `boundaries`. Throws UsageError if a tensor that training changes is needed by two blocks: each would have its own.
std::vector<std::size_t> owners_of_state(const PreparedModel& model, const std::vector<Cut>& boundaries);

/// The tensors of that list that the operators between two cuts compute with or change, by number.
std::vector<std::size_t> state_between(const PreparedModel& model, const Cut& begin, const Cut& end);

/// What a model computes between two cuts, as a block that can be trained, with the tensors of these numbers in
/// PreparedModel::state. Others that it needs do not change, and it gets copies of them. Does not keep the model.
train::TrainableBlock trainable_block(const PreparedModel& model, const Cut& begin, const Cut& end,
                                      const std::vector<std::size_t>& own);

/// Computes what lies between two cuts forward and backward once, to see that it has a gradient. A result requires one
/// if something that learns lies before it; returns the results with that flag and without their graph. Throws what
/// LibTorch throws for an operator without a gradient.
compute::Tensors try_training(const PreparedModel& model, const Cut& begin, const Cut& end,
                              const compute::Tensors& inputs);

}  // namespace paretopipe::archive
