#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/experiment/model_description.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace paretopipe::synthetic {

/// A block that takes a given time and emits a given number of bytes for a whole batch or micro-batch, whatever its
/// size.
struct SyntheticBlock {
  Nanoseconds duration{0};
  Nanoseconds backward{0};        ///< how long its backward takes in training; twice `duration` unless the spec says it
  std::int64_t output_bytes = 0;  ///< a multiple of 4; 0 for the last block, which emits the logits
};

/// A chain of such blocks, written "synthetic:5ms/2MB,250us/100kB,3ms", or with the time of the backward after that of
/// the forward: "synthetic:5ms+8ms/2MB,3ms+1ms".
struct SyntheticModel {
  std::string spec;
  std::vector<SyntheticBlock> blocks;
};

/// Parses a model for which experiment::is_synthetic is true. Throws UsageError, which says which item is wrong and how
/// to write it.
SyntheticModel parse(const std::string& spec);

/// The input is [batch, 3, 32, 32] and the logits are [batch, num_classes]; intermediate activations are flat.
experiment::ModelDescription describe(const SyntheticModel& model, int batch, int num_classes);

}  // namespace paretopipe::synthetic
