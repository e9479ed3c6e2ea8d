#pragma once
#include <cstddef>
#include <cstdint>
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

/// How the learning rate changes from update to update.
///
/// | constant | it does not                                                                                 |
/// | cosine   | half a cosine from the rate to 0 (Loshchilov and Hutter, arXiv:1608.03983, without restarts) |
/// | linear   | a straight line from the rate to 0                                                          |
enum class RateSchedule { constant, cosine, linear };

/// "constant", "cosine", "linear"
std::string to_string(RateSchedule schedule);
/// Inverse of to_string(). Throws UsageError that begins with "lr_schedule".
RateSchedule parse_rate_schedule(const std::string& text);

struct Optimizer {
  OptimizerKind kind = OptimizerKind::sgd;
  double learning_rate = 0.01;
  double momentum = 0;  ///< of sgd
  double weight_decay = 0;
  RateSchedule schedule = RateSchedule::constant;
  double warmup = 0;  ///< below 1: a share of all updates, rounded down; otherwise their number

  bool operator==(const Optimizer&) const = default;
};

/// The learning rate of an update, numbered from 0, out of `updates`. In a warm-up of w updates it grows in equal
/// steps, and reaches the optimiser's rate with the last of them. Then the schedule takes it down over the rest. To a
/// rounding these are the rates of torch.optim.lr_scheduler's SequentialLR of LinearLR(1 / w, total_iters = w − 1) and
/// CosineAnnealingLR(T_max = updates − w), LinearLR(1, 0, updates − w), or neither.
double learning_rate(const Optimizer& optimizer, std::int64_t update, std::int64_t updates);

/// "sgd lr 0.005 momentum 0.9", "adamw lr 2e-05 linear after 10 % warm-up", for people.
std::string describe(const Optimizer& optimizer);

/// What decides how a trial trains, besides its model, cut and batches. The loss is the cross-entropy, mean over the
/// batch, or with `loss_sum` the sum of the micro-batches' means.
struct Training {
  Schedule schedule = Schedule::gpipe;
  Optimizer optimizer{};
  bool recompute = false;  ///< a stage keeps only its inputs, and computes forward again for the backward
  bool loss_sum = false;

  /// The weight of a micro-batch's loss in a batch of `micro_batches`.
  double share_of_loss(std::size_t micro_batches) const {
    return loss_sum ? 1 : 1 / static_cast<double>(micro_batches);
  }

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
  bool loss_sum = false;

  bool operator==(const TrainingSettings&) const = default;
};

}  // namespace paretopipe::experiment
