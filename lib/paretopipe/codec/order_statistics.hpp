#pragma once
#include <paretopipe/codec/codec.hpp>

#include <cstddef>
#include <span>
#include <vector>

#include "sort_kernels.hpp"

namespace paretopipe::codec {

struct OrderStatistics {
  Seen seen;
  std::vector<float> at_ranks;  ///< in the order of the ranks; none if values are not finite
};

/// Finds the values that would have these ranks (0: the least) if `values` were sorted. They are exact; −0 counts as 0.
/// Ranks ascend. If there are many values, a sample is searched first. It tells between which two values each rank
/// probably lies (Floyd and Rivest, 1975). The values strictly between these two are set aside and searched in the same
/// way, and those below are counted.
OrderStatistics order_statistics(std::span<const float> values, std::span<const std::size_t> ranks, Scratch& scratch);

}  // namespace paretopipe::codec
