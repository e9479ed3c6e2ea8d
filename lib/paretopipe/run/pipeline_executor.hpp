#pragma once
#include <paretopipe/analysis/predict/profile.hpp>
#include <paretopipe/core/clock.hpp>
#include <paretopipe/run/applied_network.hpp>
#include <paretopipe/run/device_network.hpp>
#include <paretopipe/run/finish_record.hpp>
#include <paretopipe/run/pipeline.hpp>
#include <paretopipe/run/sweep.hpp>
#include <paretopipe/run/train_epochs.hpp>
#include <paretopipe/run/training_trial.hpp>
#include <paretopipe/run/unsplit_models.hpp>
#include <paretopipe/shaping/network.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace paretopipe::run {

/// The constants of a sweep.
struct ExecutorOptions {
  std::filesystem::path stage_program;
  int timeout_s = 600;
  int rest_s = 0;  ///< before every trial
  int interrupt_descriptor = -1;
  StallWatching watching{};
  std::string weights;                                    ///< file of the trials that have a weights_sha256
  experiment::DataSource data;                            ///< of the trials with a data_identity
  std::map<std::string, std::filesystem::path> archives;  ///< where the files lie, by SHA-256
  std::map<std::string, experiment::Device> devices;      ///< those that trials are `on`, by name
  record::Provenance provenance;                          ///< started_at is filled in for every trial
};

/// A sentence on stages that were to compute denormal numbers as zero and cannot: some builds of LibTorch have no code
/// for it (Debian's for arm64). Empty if there are none. A stage that does not say counts as one that can.
std::string denormals_notice(const std::vector<stage::ComputeOptions>& wanted,
                             const std::vector<stage::Configured>& applied);

/// How long to wait before stages are started again that failed to start this many times in a row. Pauses double up to
/// a minute: a host that does not answer may be rebooting, and neither it nor the network is to be flooded.
Nanoseconds pause_before_start(int failed_starts);

/// The tensor that a pipeline returned.
struct BatchResult {
  wire::TensorSpec spec;  ///< of the whole batch
  std::vector<std::byte> bytes;
};

/// Runs trials on a real pipeline of stage processes. The processes start for the first trial, are kept from trial to
/// trial, and restart after a failure or when a trial needs other CPUs, threads, switches or another kind of network. A
/// network profile is applied, read back and probed when it differs from the last trial's. That is repeated as long as
/// the probe deviates, and whenever the probe is old (AppliedNetwork).
class PipelineExecutor final : public TrialExecutor {
 public:
  explicit PipelineExecutor(ExecutorOptions options);

  const std::filesystem::path& program() const { return options_.stage_program; }

  /// The provenance of a measurement that begins now.
  record::Provenance provenance_now() const;

  /// The trial's model. Starts the stages, so that their problems show before anything is measured.
  experiment::ModelDescription describe(const experiment::UncutTrial& trial);

  /// Tells the sentence to the person who watches, if there is one.
  void notice(const std::string& sentence) const;

  /// Tries out each of the profiles on the links of the trial's devices, takes it back, and says why the devices'
  /// kernels cannot apply one. None if they can apply all. `trial.shaping` is netem, and it names devices. Throws
  /// StageError.
  std::optional<std::string> obstacle_to_leases(const experiment::UncutTrial& trial,
                                                const std::vector<experiment::NetworkProfile>& profiles);

  /// The partition of Scheme::equal_time, for the model that describe() returned. Each stage times the runs of blocks
  /// that it could get. Empty if there are fewer blocks than stages. Throws what profile() does.
  experiment::SplitPoints equal_time(const experiment::UncutTrial& trial, const experiment::ModelDescription& model);

  /// Times every run of the model's blocks on each stage, one stage after the other, for the model that describe()
  /// returned; probe_links() then probes the way from each stage to the next. Devices that are alike and have the same
  /// CPUs are timed once. The codecs, which must encode, are timed at every cut. `rounds`: how often each run and codec
  /// is timed. `progress` is told which device begins; it may be empty. Throws StageError, Interrupted, and UsageError
  /// for a device whose memory cannot hold the whole model.
  std::vector<predict::ProfiledDevice> profile(const experiment::UncutTrial& trial,
                                               const experiment::ModelDescription& model,
                                               const std::vector<codec::Codec>& codecs, int rounds,
                                               const std::function<void(const std::string&)>& progress);
  std::vector<predict::ProfiledLink> probe_links();

  /// Announces the trials. Before the first of them, the unsplit models of all are computed, and every stage prepares
  /// once all blocks of a model that it will need, unless the memory of its device is limited.
  void expect(const std::vector<experiment::Trial>& trials) { expected_ = trials; }

  record::TrialRecord run(const experiment::Trial& trial) override;

  /// Trains for `epochs` epochs on all samples of the data, with the trial's settings. The trial's number of batches
  /// does not count. The stages are checked as before a trial is measured. Returns the reason if it failed. Throws
  /// Interrupted between two steps.
  std::optional<record::Failure> train_epochs(const experiment::Trial& trial, int epochs,
                                              const EpochObserver& observer);

  /// Keeps stages, which sleep until their next trial, but ends those in cgroups: a limit belongs to one device, which
  /// exists only once.
  void make_room() override;

  /// The result at stage 0 of the last batch of `trial`, which must be the last trial that ran, and complete. Throws
  /// StageError.
  BatchResult last_result(const experiment::Trial& trial);

 private:
  /// `least`: the stages that the trial needs, started alone while the others cannot be. None if it needs all.
  void start_pipeline(const PipelineOptions& wanted, const std::optional<PipelineOptions>& least);
  void start(const PipelineOptions& options);
  /// `asks_unsplit`: questions about the unsplit model follow, so its process starts together with the stages.
  /// `needed`: how many of the stages take part, counted from the first.
  void ensure_pipeline(const experiment::UncutTrial& trial, bool asks_unsplit,
                       std::optional<int> needed = std::nullopt);
  void notice_denormals();
  void make_network(const experiment::UncutTrial& trial);
  void ensure_unsplit(const experiment::Trial& trial);
  void expect_others(const std::function<void(const experiment::Trial&)>& compute);
  void ensure_loaded(const experiment::Trial& trial);
  void ensure_source(const experiment::Trial& trial);
  void measure(const experiment::Trial& trial, TrialEvidence& evidence);
  /// Carries out the steps of a trial, which set the phase that they are in. Returns why there is no result.
  std::optional<record::Failure> attempt(
      const std::function<std::optional<record::Failure>(const char*& phase)>& steps);
  bool ran_before() const;  ///< a trial has run on a pipeline with the current one's options
  void ensure_network(const experiment::Trial& trial);
  void describe_stages(std::size_t count, TrialEvidence& evidence) const;
  record::TrialRecord run_training(const experiment::Trial& trial);
  TrainingQuestion training_question_of(const experiment::Trial& trial) const;
  const TrainingAnswer& ensure_training_known(const experiment::Trial& trial);
  const TrainingAnswer& prepare_to_train(const experiment::Trial& trial, const char*& phase);
  void prepare_stages(const experiment::Trial& trial, const TrainingAnswer& answer, const stage::TrainingTask& task);
  std::optional<record::Failure> verify_training(const experiment::Trial& trial, const TrainingAnswer& answer,
                                                 TrainingEvidence& evidence);
  void train(const experiment::Trial& trial, const TrainingAnswer& answer, TrainingEvidence& evidence);
  /// The data for the stages that make inputs or labels.
  struct DataAtEnds {
    std::vector<int> stages;
    std::vector<stage::TakeTrainingData> tasks;  ///< of each of them
  };
  DataAtEnds data_at_ends(const experiment::Trial& trial, const stage::TrainingTask& task);
  Epoch train_one(const experiment::Trial& trial, const TrainingAnswer& answer, DataAtEnds& data, int steps,
                  Epoch epoch, const EpochObserver& observer);
  stage::ModelRequest request_of(const experiment::UncutTrial& trial) const;
  UnsplitSetup setup_of(const experiment::UncutTrial& trial) const;
  UnsplitQuestion question_of(const experiment::Trial& trial) const;
  bool elsewhere(const experiment::UncutTrial& trial, std::size_t stage) const;
  stage::ModelRequest with_files_of(std::size_t stage, const experiment::UncutTrial& trial,
                                    stage::ModelRequest request);
  stage::ModelRequest with_data_of(std::size_t stage, const experiment::Trial& trial, stage::ModelRequest request);
  /// Starts the stages, and returns what they are to be asked. Throws UsageError for a device that cannot hold the
  /// model.
  stage::TimeRuns prepare_to_time(const experiment::UncutTrial& trial, const experiment::ModelDescription& model,
                                  int rounds);
  /// Adapts the request to the stage's own device and files.
  stage::TimeRuns timing_at(int stage, const experiment::UncutTrial& trial, stage::TimeRuns request);
  void time(int stage, const stage::TimeRuns& request, const std::vector<codec::Codec>& codecs,
            predict::ProfiledDevice& device);
  std::vector<predict::ProfiledRun> time_runs(int stage, stage::TimeRuns request);
  void time_disturbed_again(int stage, stage::TimeRuns request, std::vector<predict::ProfiledRun>& runs);
  std::vector<predict::ProfiledCodec> time_codecs(int stage, stage::TimeCodecs request);
  std::vector<experiment::BlockRange> blocks_needed(const experiment::Trial& trial) const;
  bool holds_blocks_of(const experiment::Trial& trial) const;

  ExecutorOptions options_;
  std::vector<experiment::Trial> expected_;
  std::optional<experiment::UncutTrial> networked_;  ///< the trial whose stages the network was made for
  std::unique_ptr<shaping::Network> network_;        // outlives the pipeline
  DeviceNetwork* between_devices_ = nullptr;         ///< the network, if it is one
  AppliedNetwork applied_;
  bool shaped_before_ = false;              ///< a network that shapes was applied
  std::optional<EmulatedDevices> devices_;  // outlive the pipeline, too
  std::optional<PipelineOptions> pipeline_options_;
  std::vector<PipelineOptions> that_ran_;  ///< of pipelines on which a trial has run to its end
  std::optional<Pipeline> pipeline_;
  UnsplitModels unsplit_;
  const UnsplitAnswer* answer_ = nullptr;  ///< for the current trial
  std::optional<stage::ModelRequest> loaded_request_;
  std::vector<experiment::BlockRange> loaded_blocks_;
  std::optional<UnsplitQuestion> source_question_;  ///< its inputs and outputs are at the source
  std::uint32_t next_tag_ = 1;
  int failed_starts_ = 0;           ///< in a row
  Clock::time_point next_start_{};  ///< no start before this, after failed ones
  bool denormals_noticed_ = false;
  std::set<std::string> other_builds_noticed_;
};

}  // namespace paretopipe::run
