#pragma once
#include <paretopipe/run/applied_network.hpp>
#include <paretopipe/run/pipeline.hpp>
#include <paretopipe/run/trial_executor.hpp>
#include <paretopipe/run/unsplit_models.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paretopipe::run {

/// The constants of a sweep.
struct ExecutorOptions {
  std::filesystem::path stage_program;
  int timeout_s = 600;
  int interrupt_descriptor = -1;
  StallWatching watching{};
  std::string weights;                                    ///< file of the trials that have a weights_sha256
  config::DataSource data;                                ///< of the trials with a data_identity
  std::map<std::string, std::filesystem::path> archives;  ///< where the files lie, by their SHA-256
  record::Provenance provenance;                          ///< started_at is filled in for every trial
};

/// The tensor that a pipeline returned.
struct BatchResult {
  wire::TensorSpec spec;  ///< of the whole batch
  std::vector<std::byte> bytes;
};

/// Runs trials on a real pipeline of stage processes. The processes start for the first trial, are kept from trial to
/// trial, and restart after a failure or when a trial needs other CPUs, threads, switches or another kind of network. A
/// network profile is applied, read back and probed when it differs from the last trial's; again as long as the probe
/// deviates and whenever the probe is old (AppliedNetwork).
class PipelineExecutor final : public TrialExecutor {
 public:
  explicit PipelineExecutor(ExecutorOptions options);

  /// The model at the settings of `trial`, whose splits and block count are ignored. Starts the stages, so that their
  /// problems show before anything is measured.
  config::ModelDescription describe(const plan::Trial& trial);

  /// The compute time of each block on stage 0 without emulation, in nanoseconds, for the model that describe()
  /// returned.
  std::vector<double> time_blocks(const plan::Trial& trial, const config::ModelDescription& model);

  /// Announces the trials. Before the first of them, the unsplit models of all are computed, and every stage prepares
  /// once all blocks of a model that it will need, unless the memory of its device is limited.
  void expect(const std::vector<plan::Trial>& trials) { expected_ = trials; }

  record::TrialRecord run(const plan::Trial& trial) override;

  /// Keeps stages, which sleep until their next trial, but ends those in cgroups: a limit belongs to one device, which
  /// exists only once.
  void make_room() override;

  /// The result at stage 0 of the last batch of `trial`, which must be the last trial that ran, and complete. Throws
  /// StageError.
  BatchResult last_result(const plan::Trial& trial);

 private:
  void ensure_pipeline(const plan::Trial& trial);
  void ensure_unsplit(const plan::Trial& trial);
  void ensure_loaded(const plan::Trial& trial);
  void ensure_source(const plan::Trial& trial);
  record::TrialRecord run_loaded(const plan::Trial& trial);
  stage::ModelRequest request_of(const plan::Trial& trial) const;
  UnsplitSetup setup_of(const plan::Trial& trial) const;
  UnsplitQuestion question_of(const plan::Trial& trial) const;
  std::vector<config::BlockRange> blocks_needed(const plan::Trial& trial) const;
  bool holds_blocks_of(const plan::Trial& trial) const;

  ExecutorOptions options_;
  std::vector<plan::Trial> expected_;
  std::optional<config::Shaping> shaping_;
  int network_stages_ = 0;
  config::Placement network_placement_;
  std::unique_ptr<shaping::Network> network_;  // outlives the pipeline
  AppliedNetwork applied_;
  std::optional<EmulatedDevices> devices_;  // so do they
  std::optional<PipelineOptions> pipeline_options_;
  std::optional<Pipeline> pipeline_;
  UnsplitModels unsplit_;
  const UnsplitAnswer* answer_ = nullptr;  ///< for the current trial
  std::optional<stage::ModelRequest> loaded_request_;
  std::vector<config::BlockRange> loaded_blocks_;
  std::optional<UnsplitQuestion> source_question_;  ///< that the source has the inputs and outputs of
  std::uint32_t next_tag_ = 1;
};

}  // namespace paretopipe::run
