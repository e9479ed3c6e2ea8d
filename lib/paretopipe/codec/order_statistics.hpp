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

/// The values at these ranks (0: the least) if `values` were sorted, each found exactly; −0 counts as 0. Ranks ascend.
/// Of many values nothing but a sample is searched: it says between which two values each rank lies (Floyd and Rivest,
/// 1975); what is strictly between them is set aside, where the same goes on, and what is below is counted.
OrderStatistics order_statistics(std::span<const float> values, std::span<const std::size_t> ranks, Scratch& scratch);

}  // namespace paretopipe::codec
