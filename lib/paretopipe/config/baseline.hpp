#pragma once
#include <string>

namespace paretopipe::config {

/// What splits are set against.
///
/// | single        | the whole model on one device: the endpoint "all local", which is measured with the partitions |
/// | sequential    | the same stages with one batch in flight: every trial's SingleStream phase                     |
/// | data_parallel | the whole model on every device, batches dealt out to them: a trial beside the partitions'     |
enum class Baseline { single, sequential, data_parallel };

/// "single", "sequential" or "data-parallel". Throws UsageError for anything else.
Baseline parse_baseline(const std::string& text);

}  // namespace paretopipe::config
