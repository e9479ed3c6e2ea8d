#pragma once
#include <paretopipe/config/experiment.hpp>

namespace paretopipe::config {

/// Throws UsageError if an experiment's placement and device profiles do not fit its stages or one another.
void check_devices(const Experiment& experiment);

}  // namespace paretopipe::config
