#pragma once
#include <paretopipe/experiment/data_source.hpp>
#include <paretopipe/experiment/experiment.hpp>
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/experiment/plan.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/record/store.hpp>
#include <paretopipe/run/pipeline_executor.hpp>
#include <paretopipe/run/sweep.hpp>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sweep_options.hpp"

// What a sweep or a single run needs before there is a plan.

namespace paretopipe::cli {

/// The files that an experiment names, identified by their content.
struct Inputs {
  std::vector<experiment::ModelSource> sources;  ///< one per model, in the experiment's order
  experiment::DataSource data;
  std::string weights_sha256;  ///< empty without a file of weights
  std::vector<experiment::DeviceProfile> devices;

  experiment::PlanInputs plan_inputs() const;
};

/// Reads the files for their SHA-256. Throws UsageError for an unreadable file, and for an archive that is named twice.
Inputs find_inputs(const experiment::Experiment& experiment);

/// A trial of each model before there is a plan, with the settings that its description depends on.
std::vector<experiment::Trial> trial_settings(const experiment::Experiment& experiment,
                                              const std::vector<experiment::ModelSource>& sources,
                                              experiment::Shaping shaping, const experiment::PlanInputs& inputs);

run::ExecutorOptions executor_options(const SweepOptions& options, const experiment::Experiment& experiment,
                                      const Inputs& inputs, const launch::InterruptGuard& interrupt);

/// The stage programs that a sweep measures: its own, whose records go into the results folder; and, with --against,
/// another one, whose records go into the folder `base` within it.
class SweepSides {
 public:
  /// Throws UsageError for another program that cannot be executed, and for settings that do not allow a second one.
  SweepSides(const SweepOptions& options, const experiment::Experiment& experiment, run::ExecutorOptions executor,
             const std::filesystem::path& folder);

  run::PipelineExecutor& own() { return sides_.front().executor; }
  std::size_t count() const { return sides_.size(); }
  bool two() const { return count() > 1; }

  /// The models at these settings. Throws what PipelineExecutor::describe throws, and UsageError if the two programs
  /// cut a model into different numbers of blocks.
  std::vector<experiment::ModelDescription> describe(const std::vector<experiment::Trial>& settings);

  /// Makes the folders and files. Throws what RecordStore does.
  void open(bool resume);

  /// The records of an earlier sweep that need not be measured again, if it is resumed. With two programs, both must
  /// have measured them in turns. Throws UsageError if a record is of another program than the one that would continue.
  std::vector<record::TrialRecord> known(bool resume) const;

  void expect(const std::vector<experiment::Trial>& trials);

  /// The sides for run::Sweep. Borrows from this object, which must have been opened.
  std::vector<run::SweepSide> for_sweep();

  std::filesystem::path file() const { return sides_.front().file(); }
  std::filesystem::path base_folder() const { return sides_.back().folder; }

 private:
  struct Side {
    Side(run::ExecutorOptions options, std::filesystem::path where);
    std::filesystem::path file() const { return folder / record::kRecordsFileName; }
    std::vector<record::TrialRecord> known() const;

    std::filesystem::path program;
    std::string sha256;
    std::filesystem::path folder;
    run::PipelineExecutor executor;
    std::optional<record::RecordStore> store{};
  };

  std::deque<Side> sides_;  // one or two; a pipeline does not move
};

}  // namespace paretopipe::cli
