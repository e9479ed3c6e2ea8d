#pragma once
#include <paretopipe/codec/codec.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace paretopipe::codec {

/// The values at these ranks (0: the least) if `values` were sorted, each found exactly; −0 counts as 0. Ranks ascend;
/// values are finite, and `least` is the least of them. Of many values nothing but a sample is sorted: it says between
/// which two values each rank lies (Floyd and Rivest, 1975); what is strictly between them is set aside, where the same
/// goes on, and what is below is counted.
std::vector<float> order_statistics(std::span<const float> values, float least, std::span<const std::size_t> ranks,
                                    Scratch& scratch);

}  // namespace paretopipe::codec
