#pragma once
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/run/stage_client.hpp>
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/training_memory.hpp>
#include <paretopipe/stage/training_messages.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paretopipe::run {

/// The most distinct inputs without labels: enough that no batch finds its own input still in the cache, and few enough
/// for a small device's memory.
inline constexpr int kMaxDistinctInputs = 8;

/// How the process for whole models computes: like stage 0, whose results are compared with its own.
struct UnsplitSetup {
  StageCommand command;
  stage::ComputeOptions compute;
  bool apart = false;  ///< stage 0 is on another host; complaints of this process then say that it is on this one

  bool operator==(const UnsplitSetup& other) const {
    return compute == other.compute && command.environment == other.command.environment;
  }
};

/// The set-up for a stage 0 on another host, whose GPU and CPUs this machine need not have: on the CPU, with no more
/// threads than there are CPUs.
UnsplitSetup apart_from_stages(UnsplitSetup setup);

/// Asks for the unsplit model's outputs in trials whose phases have this many batches, each cut into this many
/// micro-batches.
struct UnsplitQuestion {
  UnsplitSetup setup;
  stage::ModelRequest model;
  int micro_batches = 1;
  int batches = 1;
  bool with_inputs = false;  ///< for a source that cannot make them itself

  bool operator==(const UnsplitQuestion&) const = default;
};

/// The unsplit model's outputs for these inputs.
struct UnsplitAnswer {
  stage::ModelRequest model;  ///< the question's, with the archive's cuts, so that they need not be found again
  experiment::ModelDescription description;
  stage::Ends ends;
  stage::Configured process;                     ///< the one that computed the outputs
  std::optional<UnsplitFidelity> against_eager;  ///< for an optimized model
  int distinct_inputs = 0;                       ///< batches
  std::vector<std::vector<std::byte>> outputs;   ///< of each micro-batch
  std::vector<std::vector<std::byte>> inputs;    ///< as many, if they were asked for; labels, if there are any, follow
  std::vector<std::int64_t> labels;
};

/// Asks for the training by one process, with which that of the stages is compared.
struct TrainingQuestion {
  UnsplitSetup setup;
  stage::TrainingTask task;
  std::vector<experiment::BlockRange> parts;  ///< the stages' if updates overlap; otherwise empty: one with all
  int steps = 1;
  bool with_data = false;  ///< for stages that cannot make them themselves

  bool operator==(const TrainingQuestion&) const = default;
};

/// A model that is to be trained, with what its description says: its cuts and, for an archive, how many classes it
/// has.
stage::ModelRequest as_described(stage::ModelRequest model, const experiment::ModelDescription& description);

struct TrainingAnswer {
  stage::ModelRequest model;  ///< the question's, with the cuts and classes that its description says
  experiment::ModelDescription description;
  stage::TrainingReference reference;
  stage::Configured process;                   ///< the one that computed it
  stage::TrainingDataFollow data;              ///< if the question asked for them
  std::vector<std::vector<std::byte>> inputs;  ///< likewise, of each micro-batch
};

/// Everything that needs a whole model: a stage process of the driver's own, outside every emulated device. It starts
/// for the first question and ends before anything is measured; its answers stay. All calls block and throw StageError,
/// which names no stage, and Interrupted. After either the process is useless: `end` it.
class UnsplitModels {
 public:
  /// `watching` (borrowed) says when the process counts as hanging.
  UnsplitModels(int timeout_s, int interrupt_descriptor, const StallWatching& watching)
      : timeout_s_(timeout_s), interrupt_descriptor_(interrupt_descriptor), watching_(watching) {}

  /// Starts the process unless it already runs with this set-up. Does not wait for it.
  void start(const UnsplitSetup& setup);

  /// Ends it, if it runs.
  void end() { process_.reset(); }

  /// The model at the request's batch size. Requires `start`.
  const experiment::ModelDescription& describe(const stage::ModelRequest& request);

  /// The answer to a question that was asked before; null if it was not.
  const UnsplitAnswer* known(const UnsplitQuestion& question) const;

  /// Starts the process if necessary. Throws UsageError if the optimized model differs from the eager one by more than
  /// the mode's tolerance: then no split of it is worth measuring.
  const UnsplitAnswer& answer(const UnsplitQuestion& question);

  /// The same for training.
  const TrainingAnswer* known(const TrainingQuestion& question) const;
  const TrainingAnswer& answer(const TrainingQuestion& question);

 private:
  struct Process {
    Process(const UnsplitSetup& applied, const StageCommand& command) : setup(applied), client(kNoStage, command) {}

    UnsplitSetup setup;
    StageClient client;
    std::optional<stage::Configured> configured{};
  };

  template <class Reply, class Request>
  Reply ask(const Request& request);
  WaitLimits limits() const;
  template <class Reply>
  Reply wait_for();
  std::vector<std::vector<std::byte>> receive(std::uint64_t first, int count, const wire::TensorSpec& spec);

  int timeout_s_;
  int interrupt_descriptor_;
  const StallWatching& watching_;
  std::optional<Process> process_;
  std::deque<std::pair<stage::ModelRequest, experiment::ModelDescription>> descriptions_;  // these do not move
  std::deque<std::pair<UnsplitQuestion, UnsplitAnswer>> answers_;
  std::deque<std::pair<TrainingQuestion, TrainingAnswer>> training_answers_;
};

/// Asks a stage process, started for this question, which models it knows. Forms with parameters come as a pattern
/// ("synthetic:DURATION/BYTES,…"). Throws EnvironmentError if the program cannot be started.
std::vector<std::string> list_models(const std::filesystem::path& stage_program);

/// What a stage process, started for this question, makes of the default compute options. Throws StageError if it does
/// not start or refuses them.
stage::Configured try_configuration(const std::filesystem::path& stage_program);

/// Asks a stage process, started for this question, for one model. Throws StageError, with ExitCode::usage,
/// if it does not know the model.
experiment::ModelDescription describe_model(const std::filesystem::path& stage_program,
                                            const stage::ModelRequest& request);

/// Asks a stage process, started for this question, what the parts of a model take to be trained.
stage::TrainingMeasured measure_training(const std::filesystem::path& stage_program,
                                         const stage::MeasureTraining& request);

}  // namespace paretopipe::run
