#pragma once
#include <paretopipe/config/experiment.hpp>

#include <string>
#include <vector>

namespace paretopipe::config {

/// The CPU list of each stage: those that the experiment names, or that its device's profile names; the other devices
/// share the rest of `available` out (or all, where nothing is left). Stages on one device have the same list. Throws
/// UsageError where both the experiment and a profile name them.
std::vector<std::string> assign_cpus(const Experiment& experiment, const std::vector<int>& available);

}  // namespace paretopipe::config
