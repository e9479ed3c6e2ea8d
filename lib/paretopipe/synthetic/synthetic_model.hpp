#pragma once
#include <paretopipe/config/model_description.hpp>
#include <paretopipe/core/clock.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::synthetic {

/// A block that takes a given time and emits a given number of bytes, for a whole batch or a micro-batch of one,
/// whatever its size.
struct SyntheticBlock {
  Nanoseconds duration{0};
  std::int64_t output_bytes = 0;  ///< a multiple of 4; 0 for the last block, which emits the logits
};

/// A chain of such blocks, written "synthetic:5ms/2MB,250us/100kB,3ms".
struct SyntheticModel {
  std::string spec;
  std::vector<SyntheticBlock> blocks;
};

inline constexpr std::string_view kPattern = "synthetic:DURATION/BYTES,...,DURATION";

/// Of what config::is_synthetic is true. Throws UsageError saying which item is wrong and how to write it.
SyntheticModel parse(const std::string& spec);

/// Batch dimension first for input [batch, 3, 32, 32] and logits [batch, num_classes]; intermediate activations are
/// flat.
config::ModelDescription describe(const SyntheticModel& model, int batch, int num_classes);

}  // namespace paretopipe::synthetic
