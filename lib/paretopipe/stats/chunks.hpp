#pragma once
#include <cstdint>
#include <vector>

/// From series with one entry a chunk to such with one entry a batch, each `chunks` entries being one batch's. Pure.
namespace paretopipe::stats {

using Series = std::vector<std::int64_t>;

/// The entries of every batch's last chunk. Chunks pass in their order, so that at each moment the batch is through
/// with its last one.
Series of_last_chunks(const Series& series, int chunks);

/// The sums over every batch's chunks.
Series sums_over_chunks(const Series& series, int chunks);

}  // namespace paretopipe::stats
