#pragma once
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/core/training_timeline.hpp>
#include <paretopipe/experiment/schedule.hpp>
#include <paretopipe/stage/messages.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The messages about training.
namespace paretopipe::stage {

/// What is trained, and on what: whole batches cut into micro-batches of `model.batch` images each.
struct TrainingTask {
  ModelRequest model;
  experiment::Training training{};
  int micro_batches = 1;    ///< in a batch
  int distinct_inputs = 1;  ///< batches, which the steps take in turn
  std::int64_t steps = 1;   ///< of the whole training; the learning rate's schedule extends over them
  int replicas = 1;         ///< of the whole model; each takes equally many micro-batches of a step

  int micro_batches_each() const { return micro_batches / replicas; }

  bool operator==(const TrainingTask&) const = default;
};
PARETOPIPE_JSON(TrainingTask, model, training, micro_batches, distinct_inputs, steps, replicas)

/// The learning rate of an update. Updates count from 0 through the whole training.
inline double learning_rate(const TrainingTask& task, std::int64_t update) {
  const int updates_a_step = task.training.schedule == experiment::Schedule::pipedream ? task.micro_batches_each() : 1;
  return experiment::learning_rate(task.training.optimizer, update, task.steps * updates_a_step);
}

/// Asks how one process changes the weights. It computes the same micro-batches one after the other, in the order in
/// which a pipeline adds their gradients. Where updates overlap (pipedream), what a pipeline computes depends on where
/// it is cut, so the process holds the parts of all stages. If there are replicas, it holds all of them, each with all
/// blocks.
struct ComputeTrainingReference {
  static constexpr std::string_view kType = "compute_training_reference";
  TrainingTask task;
  std::vector<experiment::BlockRange> parts;  ///< one with all blocks, or those of the stages
  int steps = 1;
};
PARETOPIPE_JSON(ComputeTrainingReference, task, parts, steps)

struct TrainingReference {
  static constexpr std::string_view kType = "training_reference";
  wire::TensorSpec input;            ///< of a micro-batch
  std::vector<std::string> digests;  ///< of each block: TrainingPart::digests
  std::vector<double> losses;        ///< of each step
};
PARETOPIPE_JSON(TrainingReference, input, digests, losses)

/// Asks for the inputs and labels of a task, for stages on other hosts. The reply is followed by the input of each
/// micro-batch, with tag 0 and numbered from 0.
struct MakeTrainingData {
  static constexpr std::string_view kType = "make_training_data";
  TrainingTask task;
};
PARETOPIPE_JSON(MakeTrainingData, task)

struct TrainingDataFollow {
  static constexpr std::string_view kType = "training_data_follow";
  wire::TensorSpec input;  ///< of a micro-batch
  int inputs = 0;
  std::vector<std::int64_t> labels;
};
PARETOPIPE_JSON(TrainingDataFollow, input, inputs, labels)

/// Makes the stage's part of a model ready to be trained from its first weights. Releases all other blocks. The first
/// stage makes the inputs, and the last one their labels: those of the data, or drawn from the seed. A host that has no
/// such data is given them: the labels in here, and the inputs as tensors that follow.
struct PrepareTraining {
  static constexpr std::string_view kType = "prepare_training";
  TrainingTask task;
  experiment::BlockRange blocks;
  int stage = 0;
  int stage_count = 1;         ///< stages that take part; 1 for a replica
  int replica = 0;             ///< which of the task's
  TrainingDataFollow given{};  ///< empty: the stage makes them itself
};
PARETOPIPE_JSON(PrepareTraining, task, blocks, stage, stage_count, replica, given)

struct TrainingPrepared : NoFields {
  static constexpr std::string_view kType = "training_prepared";
};

/// Trains for some steps more. Goes to all stages that take part; they then talk only to each other until they report.
/// Activations cross the ring's links. Gradients cross the links of a ring in the other direction, or with two stages
/// the ring's link back. If the previous stages have no weights, they need no gradient. A tensor of one float then
/// takes its place, so that no stage runs ahead of the schedule.
struct Train {
  static constexpr std::string_view kType = "train";
  std::uint32_t tag = 0;  ///< frames with another tag are refused
  int steps = 1;
  bool verified = false;          ///< digests are wanted, and replicas add up gradients as sums_in_double() says
  Boundary incoming;              ///< a micro-batch from the previous stage; means nothing to the first
  Boundary gradients;             ///< of a micro-batch from the next stage; means nothing to the last
  codec::Codec incoming_codec{};  ///< of what crosses the cut to the previous stage, activations and gradients
  codec::Codec outgoing_codec{};  ///< the same for the next stage
};
PARETOPIPE_JSON(Train, tag, steps, verified, incoming, gradients, incoming_codec, outgoing_codec)

/// The sum of floats of more than two replicas depends on the order of the additions, which is the library's own. Steps
/// that are compared bit for bit add them up in double precision instead, where the order hardly ever matters (see
/// sum_gradients in replicas.hpp).
inline bool sums_in_double(bool verified, int replicas) {
  return verified && replicas > 2;
}

/// The spec of the tensor that takes the place of a gradient that nobody needs.
wire::TensorSpec no_gradient_spec();

/// What a stage sent over a link in all steps.
struct Sent {
  std::int64_t bytes = 0;            ///< of tensors as they crossed
  std::int64_t unencoded_bytes = 0;  ///< of the same tensors before a codec
  int tensors = 0;                   ///< of each micro-batch
};
PARETOPIPE_JSON(Sent, bytes, unencoded_bytes, tensors)

/// What a stage did and saw. Moments are absolute times of its own steady clock.
struct TrainReport {
  static constexpr std::string_view kType = "train_report";
  TrainingTimeline moments;
  std::vector<double> losses;        ///< of each step; only from the last stage
  std::int64_t correct = 0;          ///< samples of all steps that were given their label's class; only from the last
  std::vector<std::string> digests;  ///< of each of its blocks after the last step, if wanted
  Sent sent_forward;                 ///< activations
  Sent sent_backward;                ///< gradients
  std::int64_t reduced_bytes = 0;    ///< of gradients that were added up over all replicas, all steps
  host::ProcessUsage usage;
  std::int64_t peak_rss_bytes = 0;  ///< 0 if unreadable
  host::StageMemory memory;
  host::HostState state;
  host::CpuConditions conditions;
};
PARETOPIPE_JSON(TrainReport, moments, losses, correct, digests, sent_forward, sent_backward, reduced_bytes, usage,
                peak_rss_bytes, memory, state, conditions)

/// Asks how many samples the data have, each with a label.
struct CountLabels {
  static constexpr std::string_view kType = "count_labels";
  ModelRequest model;
};
PARETOPIPE_JSON(CountLabels, model)

struct LabelsCounted {
  static constexpr std::string_view kType = "labels_counted";
  std::int64_t count = 0;
};
PARETOPIPE_JSON(LabelsCounted, count)

/// Replaces the data of a stage that was prepared, from the next step on.
struct TakeTrainingData {
  static constexpr std::string_view kType = "take_training_data";
  TrainingTask task;
};
PARETOPIPE_JSON(TakeTrainingData, task)

/// Asks for the parameters and buffers of the stage's blocks. The reply is followed by one tensor frame for each of
/// them, with tag 0 and numbered from 0.
struct FetchWeights : NoFields {
  static constexpr std::string_view kType = "fetch_weights";
};

struct WeightsFollow {
  static constexpr std::string_view kType = "weights_follow";
  std::vector<std::string> names;  ///< in PyTorch's state_dict
  std::vector<wire::TensorSpec> specs;
};
PARETOPIPE_JSON(WeightsFollow, names, specs)

}  // namespace paretopipe::stage
