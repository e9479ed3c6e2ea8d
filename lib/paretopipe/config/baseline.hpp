#pragma once
#include <string>

namespace paretopipe::config {

/// What splits are compared with.
///
/// | single        | the whole model on one device: the endpoint "all local", which is measured with the partitions |
/// | sequential    | the same stages with one batch in flight: the SingleStream phase of every trial                |
/// | data_parallel | the whole model on every device, to which batches are dealt: a trial besides the partitions'   |
enum class Baseline { single, sequential, data_parallel };

/// Parses "single", "sequential" or "data-parallel". Throws UsageError for anything else.
Baseline parse_baseline(const std::string& text);

}  // namespace paretopipe::config
