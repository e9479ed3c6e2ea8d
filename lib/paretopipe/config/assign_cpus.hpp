#pragma once
#include <paretopipe/config/experiment.hpp>

#include <string>
#include <vector>

namespace paretopipe::config {

/// Returns the CPU list of each stage. The experiment or the profile of the stage's device may name it. The other
/// devices share the rest of `available`, or all of it if nothing is left. Stages on one device have the same list.
/// Throws UsageError if both the experiment and a profile name CPUs.
std::vector<std::string> assign_cpus(const Experiment& experiment, const std::vector<int>& available);

}  // namespace paretopipe::config
