#pragma once
#include <paretopipe/experiment/data_source.hpp>
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/experiment/plan.hpp>
#include <paretopipe/run/pipeline_executor.hpp>

#include <string>
#include <vector>

namespace paretopipe::run {

/// The files and networks that an experiment names, as they are on this machine. Files are identified by their content.
struct SweepInputs {
  std::vector<experiment::ModelSource> sources;  ///< one per model, in the experiment's order
  experiment::DataSource data;
  experiment::PlanInputs plan;  ///< without block times
  experiment::Networks networks;
  bool tries_leases = false;  ///< networks.shaping is netem, unless prepare_sweep() finds a device that cannot shape
  std::string warning;        ///< why the networks are not of the preferred kind; empty if they are
};

/// Reads the files for their SHA-256, and finds out what kind of network can be had. Throws UsageError for an
/// unreadable file and for an archive that is named twice, and what shaping::choose_shaping throws.
SweepInputs find_inputs(const experiment::Experiment& experiment);

/// An experiment's models, as the stage program describes them, and all trials in the order in which they are to run.
struct PreparedSweep {
  std::vector<experiment::ModelDescription> models;
  std::vector<experiment::Trial> trials;
};

/// Plans an experiment whose trials will run on `executor`, and on `other` as well if there is one. Starts the stages,
/// and asks them for the models and, where a partition depends on it, for the time of each block. Throws what
/// PipelineExecutor::describe and experiment::plan_trials throw, and UsageError if the two stage programs cut a model
/// into different numbers of blocks. Throws EnvironmentError if neither the devices' kernels nor relays can do what the
/// networks say.
PreparedSweep prepare_sweep(const experiment::Experiment& experiment, const SweepInputs& inputs,
                            PipelineExecutor& executor, PipelineExecutor* other = nullptr);

}  // namespace paretopipe::run
