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

/// What does not change over a sweep.
struct ExecutorOptions {
  std::filesystem::path stage_program;
  int timeout_s = 600;
  int interrupt_descriptor = -1;
  StallWatching watching{};
  std::string weights;                                    ///< file of the trials that have a weights_sha256
  config::DataSource data;                                ///< of the trials that have a data_identity
  std::map<std::string, std::filesystem::path> archives;  ///< where the files lie, by their SHA-256
  record::Provenance provenance;                          ///< started_at is filled in for every trial
};

/// The tensor that came out of a pipeline.
struct BatchResult {
  wire::TensorSpec spec;  ///< of the whole batch
  std::vector<std::byte> bytes;
};

/// Runs trials on a real pipeline of stage processes. They are started for the first trial, kept from trial to trial,
/// and started anew after a failure or when a trial wants other CPUs, threads, switches or another kind of network. A
/// network profile is applied, read back and probed when a trial wants another one than the last trial did, and again
/// as long as the probe deviates and whenever it has become old (AppliedNetwork).
class PipelineExecutor final : public TrialExecutor {
 public:
  explicit PipelineExecutor(ExecutorOptions options);

  /// The model at the trial settings of `trial` (its splits and block count are not read). Starts the stages, so that
  /// what cannot be had of them is known before anything is measured.
  config::ModelDescription describe(const plan::Trial& trial);

  /// The time that stage 0 would compute at each block of the model that describe() told of, in nanoseconds, were it
  /// not emulated.
  std::vector<double> time_blocks(const plan::Trial& trial, const config::ModelDescription& model);

  /// Says which trials will come. Before the first of them the unsplit models of all are computed, and every stage
  /// makes ready once all the blocks that it will need of a model, unless the memory of its device is limited.
  void expect(const std::vector<plan::Trial>& trials) { expected_ = trials; }

  record::TrialRecord run(const plan::Trial& trial) override;

  /// Stages wait asleep for their next trial, so they may stay. Those in cgroups end: a limit is of one device, which
  /// is there once.
  void make_room() override;

  /// What came back to stage 0 of the last batch of `trial`, which is the last one that ran, and ran to its end. Throws
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
  const UnsplitAnswer* answer_ = nullptr;  ///< for the trial that runs
  std::optional<stage::ModelRequest> loaded_request_;
  std::vector<config::BlockRange> loaded_blocks_;
  std::optional<UnsplitQuestion> source_question_;  ///< whose inputs and outputs the source has
  std::uint32_t next_tag_ = 1;
};

}  // namespace paretopipe::run
