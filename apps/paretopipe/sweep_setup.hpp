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

// What a sweep needs before there is a plan, and a single run as well.
namespace paretopipe::cli {

/// The files that an experiment names, looked up.
struct Inputs {
  std::vector<config::ModelSource> sources;  ///< one a model, in the experiment's order
  config::DataSource data;
  std::string weights_sha256;  ///< empty without a file of weights
  std::vector<config::DeviceProfile> devices;

  plan::PlanInputs plan_inputs() const;
};

/// Reads them for their SHA-256. Throws UsageError for one that cannot be read, and for an archive that is named twice.
Inputs find_inputs(const config::Experiment& experiment);

/// A trial of each model with the settings that its description depends on, before there is a plan.
std::vector<plan::Trial> trial_settings(const config::Experiment& experiment,
                                        const std::vector<config::ModelSource>& sources, config::Shaping shaping,
                                        const plan::PlanInputs& inputs);

run::ExecutorOptions executor_options(const SweepOptions& options, const config::Experiment& experiment,
                                      const Inputs& inputs, const launch::InterruptGuard& interrupt);

}  // namespace paretopipe::cli
