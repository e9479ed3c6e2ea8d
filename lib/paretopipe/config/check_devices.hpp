#pragma once
#include <paretopipe/config/experiment.hpp>

namespace paretopipe::config {

/// Placement and device profiles of an experiment: throws UsageError for what does not fit its stages, or together.
void check_devices(const Experiment& experiment);

}  // namespace paretopipe::config
