#pragma once
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::experiment {

/// What stages do with a model: compute its outputs, or fit its weights.
enum class Task { infer, train };

/// "infer", "train"
std::string to_string(Task task);
/// Inverse of to_string(). Throws UsageError that begins with "task".
Task parse_task(const std::string& text);

/// In which order a stage computes the micro-batches of a step, and when it updates its weights (schedule.hpp).
///
/// | gpipe     | all forward, all backward, one update (Huang et al., arXiv:1811.06965)                              |
/// | 1f1b      | forward and backward in turn, one update once all are back: fewer activations alive (Narayanan et    |
/// |           | al., "PipeDream: generalized pipeline parallelism for DNN training", SOSP 2019, with a flush)       |
/// | pipedream | the same without a flush: an update after every micro-batch, whose backward has the weights of its  |
/// |           | forward, so that stage s of K holds up to K − s versions of them                                    |
enum class Schedule { gpipe, one_f_one_b, pipedream };

/// "gpipe", "1f1b", "pipedream"
std::string to_string(Schedule schedule);
/// Inverse of to_string(). Throws UsageError that begins with "schedule".
Schedule parse_schedule(const std::string& text);

/// How gradients change weights, as torch.optim's optimisers of the same names do (compute/train/optimizer.hpp).
enum class OptimizerKind { sgd, adam, adamw };

std::string to_string(OptimizerKind kind);
/// Inverse of to_string(). Throws UsageError that begins with "optimizer".
OptimizerKind parse_optimizer(const std::string& text);

struct Optimizer {
  OptimizerKind kind = OptimizerKind::sgd;
  double learning_rate = 0.01;
  double momentum = 0;  ///< of sgd
  double weight_decay = 0;

  bool operator==(const Optimizer&) const = default;
};

/// "sgd lr 0.005 momentum 0.9", for people.
std::string describe(const Optimizer& optimizer);

/// What decides how a trial trains, besides its model, cut and batches. The loss is the cross-entropy, mean over the
/// batch.
struct Training {
  Schedule schedule = Schedule::gpipe;
  Optimizer optimizer{};
  bool recompute = false;  ///< a stage keeps only its inputs, and computes forward again for the backward

  bool operator==(const Training&) const = default;
};
void to_json(nlohmann::json& json, const Training& training);
/// Throws UsageError for words that are unknown.
void from_json(const nlohmann::json& json, Training& training);

/// "1f1b, sgd lr 0.005 momentum 0.9, recomputed", for people.
std::string describe(const Training& training);

/// An experiment's training, which is not used unless its task is to train.
struct TrainingSettings {
  std::vector<std::string> schedules{to_string(Schedule::gpipe)};  ///< measured in turn
  Optimizer optimizer{};
  bool recompute = false;

  bool operator==(const TrainingSettings&) const = default;
};

}  // namespace paretopipe::experiment
