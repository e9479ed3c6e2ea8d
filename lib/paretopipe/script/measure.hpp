#pragma once
#include <paretopipe/config/compute_mode.hpp>
#include <paretopipe/script/archive_model.hpp>

#include <cstdint>
#include <vector>

namespace paretopipe::script {

/// A cut of the graph as it was for one batch.
struct Measured {
  std::vector<std::vector<std::int64_t>> shapes;  ///< of the tensors that cross it
  std::int64_t bytes = 0;                         ///< of all of them
  bool sendable = true;                           ///< each of the mode's type, dense in its order, not empty
  std::int64_t multiply_accumulates = 0;          ///< from the cut before it to this one
};

/// Computes the model on zeros, from one of its cuts to the next, with the mode's type and memory format. Of each of
/// its cuts. Call under c10::InferenceMode. Throws what LibTorch throws where an operator
/// does not like its operands.
std::vector<Measured> measure(const ArchiveModel& model, const std::vector<std::int64_t>& input_shape,
                              const config::ComputeMode& mode);

}  // namespace paretopipe::script
