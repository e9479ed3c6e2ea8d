#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/partition.hpp>
#include <paretopipe/experiment/schedule.hpp>
#include <paretopipe/stage/replica_reference.hpp>
#include <paretopipe/stage/training_data.hpp>
#include <paretopipe/stage/training_reference.hpp>
#include <paretopipe/wire/frame.hpp>

#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::stage {

namespace {

using experiment::Action;

/// The parts of all stages in one process. Tensors that cross a cut wait here until the other part takes them.
class TrainingInOneProcess {
 public:
  TrainingInOneProcess(const ComputeTrainingReference& request, Backend& backend)
      : task_(request.task),
        micro_batches_(static_cast<std::size_t>(request.task.micro_batches)),
        data_(request.task, true, true, backend) {
    const auto parts = static_cast<int>(request.parts.size());
    updates_done_.resize(request.parts.size());
    // All schedules with a flush add gradients in one order, and this one needs the least memory for it.
    const auto schedule = request.task.training.schedule == experiment::Schedule::pipedream
                              ? experiment::Schedule::pipedream
                              : experiment::Schedule::one_f_one_b;
    for (int part = 0; part < parts; ++part) {
      const auto blocks = request.parts[static_cast<std::size_t>(part)];
      parts_.push_back(backend.make_training_part(request.task.model, blocks, request.task.training));
      const experiment::TrainingExtent extent{parts, request.task.micro_batches, request.steps};
      actions_.push_back(experiment::actions_of(schedule, extent, part));
    }
    losses_.resize(static_cast<std::size_t>(request.steps));
  }

  TrainingReference run() {
    experiment::for_each_in_order(actions_, [this](std::size_t part, std::size_t index) { act(part, index); });
    TrainingReference reference;
    for (std::size_t step = 0; step < losses_.size(); ++step) check_loss(losses_[step], step);
    reference.input = data_.input({}).spec;
    reference.losses = losses_;
    for (const auto& part : parts_) {
      for (auto& digest : part->digests()) reference.digests.push_back(std::move(digest));
    }
    return reference;
  }

 private:
  void act(std::size_t part, std::size_t index) {
    const auto& action = actions_[part][index];
    const auto number = static_cast<std::size_t>(action.micro_batch);
    const MicroBatch which{number / micro_batches_, number % micro_batches_};
    auto& own = *parts_[part];
    const bool last = part + 1 == parts_.size();
    switch (action.kind) {
      case Action::Kind::forward: {
        auto output = own.forward(which, part == 0 ? data_.input(which) : take(activations_, part, which),
                                  experiment::backward_of(actions_[part], index));
        if (last) {
          losses_[which.step] +=
              own.loss(which, data_.labels(which), task_.training.share_of_loss(micro_batches_)).loss;
        } else {
          activations_[{part + 1, which}] = std::move(output);
        }
        break;
      }
      case Action::Kind::backward: {
        auto gradient = own.backward(which, last ? Activation{} : take(gradients_, part, which));
        if (part > 0) gradients_[{part - 1, which}] = std::move(gradient);
        break;
      }
      case Action::Kind::reduce:  // of replicas only
        break;
      case Action::Kind::update:
        own.update(learning_rate(task_, updates_done_[part]++));
        break;
    }
  }

  using Waiting = std::map<std::pair<std::size_t, MicroBatch>, Activation>;

  static Activation take(Waiting& waiting, std::size_t part, MicroBatch which) {
    return std::move(waiting.extract({part, which}).mapped());
  }

  const TrainingTask task_;
  std::size_t micro_batches_;
  TrainingData data_;
  std::vector<std::unique_ptr<TrainingPart>> parts_;
  std::vector<std::vector<Action>> actions_;
  Waiting activations_, gradients_;
  std::vector<std::int64_t> updates_done_;  ///< of each part
  std::vector<double> losses_;
};

constexpr int kMostSteps = 1000;

void check(const ComputeTrainingReference& request) {
  const auto& task = request.task;
  const bool shares =
      task.replicas >= 1 && task.replicas <= experiment::kMostStages && task.micro_batches % task.replicas == 0;
  const bool possible = shares && !request.parts.empty() && request.steps >= 1 && request.steps <= kMostSteps;
  if (possible) return;
  throw wire::ProtocolError(
      fmt::format("the driver asked for {} steps of training in {} parts", request.steps, request.parts.size()));
}

}  // namespace

TrainingReference compute_training_reference(const ComputeTrainingReference& request, Backend& backend) {
  check(request);
  backend.keep_only({});
  if (request.task.replicas > 1) return train_replicas_in_one_process(request, backend);
  return TrainingInOneProcess(request, backend).run();
}

void check_loss(double loss, std::size_t step) {
  if (std::isfinite(loss)) return;
  const double unsigned_nan = std::isnan(loss) ? std::abs(loss) : loss;  // "-nan" would say nothing more
  throw UsageError(
      fmt::format("the loss of step {} is {}: the training diverges; a lower --lr may help", step + 1, unsigned_nan));
}

}  // namespace paretopipe::stage
