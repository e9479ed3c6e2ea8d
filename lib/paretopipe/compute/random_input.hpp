#pragma once
#include <paretopipe/compute/sample.hpp>

#include <cstdint>

namespace paretopipe::compute {

/// Batch `index` of a seed's endless sequence: unit-variance noise, or random tokens of the vocabulary between the
/// tokens that begin and end a sequence.
at::Tensor random_input(const Sample& sample, std::int64_t size, std::uint64_t seed, int index);

}  // namespace paretopipe::compute
