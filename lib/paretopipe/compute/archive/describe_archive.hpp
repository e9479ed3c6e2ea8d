#pragma once
#include <paretopipe/experiment/compute_mode.hpp>
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/stage/backend.hpp>

#include <cstdint>
#include <vector>

#include "archive_model.hpp"

namespace paretopipe::archive {

/// A cut of the graph as measured for one batch.
struct Measured {
  std::vector<std::vector<std::int64_t>> shapes;  ///< of the tensors that cross it
  std::int64_t bytes = 0;                         ///< of all of them
  bool sendable = true;                           ///< each is of the mode's type, dense in its order and not empty
  std::int64_t multiply_accumulates = 0;          ///< from the previous cut to this one
  bool has_gradient = false;                      ///< in training: something that learns lies before it
};

/// Computes the model on zeros, from each of its cuts to the next, with the mode's type and memory format. Returns one
/// entry per cut. Throws what LibTorch throws if an operator refuses its operands. Call under c10::InferenceMode.
std::vector<Measured> measure(const ArchiveModel& model, const std::vector<std::int64_t>& input_shape,
                              const experiment::ComputeMode& mode);

/// Describes the request's archive as a chain of blocks for its batch size. It loads the archive, finds its cuts, and
/// runs it once on zeros, in eager mode with the request's type and memory format. At any time, only the parameters
/// between two neighbouring cuts are in memory. A value that a link cannot carry unchanged (another type, or numbers
/// that are not dense in that order) is no cut. Throws UsageError as load_archive does, and for an archive that refuses
/// the batch or whose result is not one row for each sample. Call under c10::InferenceMode.
experiment::ModelDescription describe_archive(const stage::ModelRequest& request);

}  // namespace paretopipe::archive
