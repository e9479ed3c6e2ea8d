#pragma once
#include <paretopipe/experiment/experiment.hpp>
#include <paretopipe/experiment/settings.hpp>
#include <paretopipe/experiment/shard.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/record/store.hpp>
#include <paretopipe/run/pipeline_executor.hpp>
#include <paretopipe/run/prepare_sweep.hpp>
#include <paretopipe/run/sweep.hpp>

#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

// What a sweep or a single run needs before there is a plan.
namespace paretopipe::cli {

/// The options of a sweep's command line. Settings without a flag come from the experiment file, then from the
/// defaults.
struct SweepOptions {
  std::filesystem::path experiment_file;
  experiment::GivenFlags settings;
  std::filesystem::path out;
  std::filesystem::path against;              ///< another stage program; empty if there is none
  std::vector<std::filesystem::path> guided;  ///< profiles that say which splits to measure; empty: all
  std::string within;                         ///< of a guided sweep: the share that is a near tie; empty: the default
  experiment::Shard shard;                    ///< the part of the plan to measure; 1/1 is all of it
  bool resume = false;
  bool dry_run = false;
  std::vector<std::string> command_line;
};

/// What a flag's help says of its default, by the setting's key, where a command has another default than a sweep.
using Defaults = std::map<std::string, std::string>;

/// Of commands that refuse to choose a cut.
inline constexpr const char* kCutNeeded = "required, or --partitions";

/// Adds the flags of the settings with these keys, which are separated by blanks, or of all settings, in the order of
/// the table. Parsing the command line fills `given`, which must outlive the command.
void add_setting_flags(CLI::App& command, experiment::GivenFlags& given, const std::string& keys = "",
                       const Defaults& defaults = {});

/// Adds the flags of `sweep`, which fill `options` when the command line is parsed.
void add_sweep_options(CLI::App& command, SweepOptions& options);

/// The requested experiment. Throws UsageError.
experiment::Experiment experiment_of(const SweepOptions& options);

/// Deals the machine's CPUs out to stages that name none, and validates. Throws UsageError.
experiment::Experiment completed(experiment::Experiment experiment);

/// The trial of a command, run or train, that takes one way to cut the model. Throws UsageError if several were named.
experiment::Trial only_trial(std::string_view command, const run::PreparedSweep& sweep);

run::ExecutorOptions executor_options(const SweepOptions& options, const experiment::Experiment& experiment,
                                      const run::SweepInputs& inputs, const launch::InterruptGuard& interrupt);

/// The stage programs that a sweep measures. The records of its own go into the results folder. With --against there is
/// another one, whose records go into the folder `base` within it.
class SweepSides {
 public:
  /// Throws UsageError for another program that cannot be executed, and for settings that do not allow a second one.
  SweepSides(const SweepOptions& options, const experiment::Experiment& experiment, run::ExecutorOptions executor,
             const std::filesystem::path& folder);

  run::PipelineExecutor& own() { return sides_.front().executor; }
  /// The other one's; nullptr without --against.
  run::PipelineExecutor* other() { return two() ? &sides_.back().executor : nullptr; }
  std::size_t count() const { return sides_.size(); }
  bool two() const { return count() > 1; }

  /// Makes the folders and files. Throws what RecordStore does.
  void open(bool resume);

  /// The records of an earlier sweep that need not be measured again, if it is resumed. Warns of records from another
  /// machine or program. With two programs, both must have measured them in turns; records of another program are a
  /// UsageError then.
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

    std::string sha256;
    std::filesystem::path folder;
    run::PipelineExecutor executor;
    std::optional<record::RecordStore> store{};
  };

  std::deque<Side> sides_;  // one or two; a pipeline does not move
};

}  // namespace paretopipe::cli
