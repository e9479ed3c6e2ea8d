#pragma once
#include <paretopipe/config/archive.hpp>
#include <paretopipe/config/data_source.hpp>
#include <paretopipe/config/experiment.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/plan/plan.hpp>
#include <paretopipe/run/pipeline_executor.hpp>

#include <string>
#include <vector>

#include "sweep_options.hpp"

// What a sweep or a single run needs before there is a plan.
namespace paretopipe::cli {

/// The files that an experiment names, identified by their content.
struct Inputs {
  std::vector<config::ModelSource> sources;  ///< one per model, in the experiment's order
  config::DataSource data;
  std::string weights_sha256;  ///< empty without a file of weights
  std::vector<config::DeviceProfile> devices;

  plan::PlanInputs plan_inputs() const;
};

/// Reads the files for their SHA-256. Throws UsageError for an unreadable file, and for an archive that is named twice.
Inputs find_inputs(const config::Experiment& experiment);

/// A trial of each model before there is a plan, with the settings that its description depends on.
std::vector<plan::Trial> trial_settings(const config::Experiment& experiment,
                                        const std::vector<config::ModelSource>& sources, config::Shaping shaping,
                                        const plan::PlanInputs& inputs);

run::ExecutorOptions executor_options(const SweepOptions& options, const config::Experiment& experiment,
                                      const Inputs& inputs, const launch::InterruptGuard& interrupt);

}  // namespace paretopipe::cli
