#pragma once
#include <cstdint>
#include <vector>

/// From series with one entry a micro-batch to such with one entry a batch, each `micro-batches` entries being one
/// batch's. Pure.
namespace paretopipe::stats {

using Series = std::vector<std::int64_t>;

/// The entries of every batch's last micro-batch. Micro-batches pass in their order, so that at each moment the batch
/// is through with its last one.
Series of_last_micro_batches(const Series& series, int micro_batches);

/// The sums over every batch's micro-batches.
Series sums_over_micro_batches(const Series& series, int micro_batches);

}  // namespace paretopipe::stats
