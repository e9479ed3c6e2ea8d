#pragma once
#include <cstdint>
#include <vector>

/// Converts series with one entry per micro-batch to series with one entry per batch; each `micro_batches` entries
/// belong to one batch. Pure.
namespace paretopipe::stats {

using Series = std::vector<std::int64_t>;

/// The entries of every batch's last micro-batch. Micro-batches pass in order, so the batch reaches each moment with
/// its last one.
Series of_last_micro_batches(const Series& series, int micro_batches);

/// The sums over every batch's micro-batches.
Series sums_over_micro_batches(const Series& series, int micro_batches);

}  // namespace paretopipe::stats
