#pragma once
#include <paretopipe/config/compute_mode.hpp>
#include <paretopipe/script/archive_model.hpp>

#include <cstdint>
#include <vector>

namespace paretopipe::script {

/// A cut of the graph as measured for one batch.
struct Measured {
  std::vector<std::vector<std::int64_t>> shapes;  ///< of the tensors that cross it
  std::int64_t bytes = 0;                         ///< of all of them
  bool sendable = true;                           ///< each is of the mode's type, dense in its order and not empty
  std::int64_t multiply_accumulates = 0;          ///< from the previous cut to this one
};

/// Computes the model on zeros, from each of its cuts to the next, with the mode's type and memory format. Returns one
/// entry per cut. Throws what LibTorch throws if an operator refuses its operands. Call under c10::InferenceMode.
std::vector<Measured> measure(const ArchiveModel& model, const std::vector<std::int64_t>& input_shape,
                              const config::ComputeMode& mode);

}  // namespace paretopipe::script
