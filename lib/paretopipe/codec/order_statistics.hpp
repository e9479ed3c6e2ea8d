#pragma once
#include <paretopipe/codec/codec.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace paretopipe::codec {

/// The values at these ranks (0: the least) if `values` were sorted, each found exactly; −0 counts as 0. Ranks ascend;
/// values are finite. Reads all values once and sorts nothing but a sample, which says between which two values each
/// rank lies (Floyd and Rivest, 1975): what is strictly between them is set aside, and what is below is counted.
std::vector<float> order_statistics(std::span<const float> values, std::span<const std::size_t> ranks,
                                    Scratch& scratch);

}  // namespace paretopipe::codec
