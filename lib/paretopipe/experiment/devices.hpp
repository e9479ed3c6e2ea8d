#pragma once
#include <paretopipe/experiment/device.hpp>
#include <paretopipe/experiment/experiment.hpp>

#include <string>
#include <vector>

namespace paretopipe::experiment {

/// Throws UsageError if an experiment's placement and device profiles do not fit its stages or one another.
void check_devices(const Experiment& experiment);

/// Sets what follows from the devices of the stages: the number of stages, their placement, their profiles, and what
/// each computes on. Does nothing if there are no devices. Throws UsageError for settings that say the same again.
void settle_devices(Experiment& experiment, const std::vector<Device>& on);

/// Returns the CPU list of each stage. The experiment or the profile of the stage's device may name it. The other
/// devices share the rest of `available`, or all of it if nothing is left. Stages on one device have the same list.
/// `on`: the devices of the stages, if they are named; one on another machine has the list that it names, or an empty
/// one: all CPUs there. Throws UsageError if both the experiment and a profile name CPUs.
std::vector<std::string> assign_cpus(const Experiment& experiment, const std::vector<int>& available,
                                     const std::vector<Device>& on = {});

}  // namespace paretopipe::experiment
