#pragma once
#include <paretopipe/experiment/experiment.hpp>

#include <string>
#include <vector>

namespace paretopipe::experiment {

/// Throws UsageError if an experiment's placement and device profiles do not fit its stages or one another.
void check_devices(const Experiment& experiment);

/// Returns the CPU list of each stage. The experiment or the profile of the stage's device may name it. The other
/// devices share the rest of `available`, or all of it if nothing is left. Stages on one device have the same list.
/// Throws UsageError if both the experiment and a profile name CPUs.
std::vector<std::string> assign_cpus(const Experiment& experiment, const std::vector<int>& available);

}  // namespace paretopipe::experiment
