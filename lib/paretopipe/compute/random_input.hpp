#pragma once
#include <paretopipe/compute/sample.hpp>

#include <cstdint>

namespace paretopipe::compute {

/// Batch `index` of the endless sequence of a seed: unit-variance noise, or random tokens of the vocabulary, framed as
/// sequences are.
at::Tensor random_input(const Sample& sample, std::int64_t size, std::uint64_t seed, int index);

}  // namespace paretopipe::compute
