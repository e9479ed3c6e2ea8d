#include <paretopipe/experiment/schedule.hpp>
#include <paretopipe/stage/replica_reference.hpp>
#include <paretopipe/stage/training_data.hpp>
#include <paretopipe/stage/training_part.hpp>
#include <paretopipe/stage/training_reference.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

namespace paretopipe::stage {

namespace {

/// Gives every replica the sum of all gradients, as if they had been added up over a network.
template <class Sum>
void add_up(const std::vector<std::span<float>>& gradients) {
  for (std::size_t i = 0; i < gradients.front().size(); ++i) {
    auto sum = static_cast<Sum>(gradients.front()[i]);  // not from 0, which would make 0 of -0
    for (const auto& own : std::span(gradients).subspan(1)) sum += static_cast<Sum>(own[i]);
    for (const auto& own : gradients) own[i] = static_cast<float>(sum);
  }
}

class ReplicasInOneProcess {
 public:
  ReplicasInOneProcess(const ComputeTrainingReference& request, Backend& backend)
      : task_(request.task),
        data_(task_, true, true, backend),
        actions_(experiment::actions_of(task_.training.schedule,
                                        {1, task_.micro_batches_each(), request.steps, task_.replicas}, 0)),
        updates_done_(static_cast<std::size_t>(task_.replicas)),
        losses_(static_cast<std::size_t>(task_.replicas),
                std::vector<double>(static_cast<std::size_t>(request.steps))) {
    for (int i = 0; i < task_.replicas; ++i) {
      replicas_.push_back(backend.make_training_part(task_.model, request.parts.front(), task_.training));
    }
  }

  TrainingReference run() {
    for (std::size_t index = 0; index < actions_.size(); ++index) {
      if (actions_[index].kind == experiment::Action::Kind::reduce) {
        reduce();
      } else {
        for (std::size_t i = 0; i < replicas_.size(); ++i) act(i, index);
      }
    }
    TrainingReference reference;
    reference.input = data_.input({}).spec;
    reference.losses.resize(losses_.front().size());
    for (std::size_t step = 0; step < reference.losses.size(); ++step) {
      for (const auto& own : losses_) reference.losses[step] += own[step];
      check_loss(reference.losses[step], step);
    }
    for (const auto& replica : replicas_) {
      for (auto& digest : replica->digests()) reference.digests.push_back(std::move(digest));
    }
    return reference;
  }

 private:
  void act(std::size_t replica, std::size_t index) {
    const auto& action = actions_[index];
    const auto each = static_cast<std::size_t>(task_.micro_batches_each());
    const auto number = static_cast<std::size_t>(action.micro_batch);
    const MicroBatch which{number / each, replica * each + number % each};
    auto& own = *replicas_[replica];
    if (action.kind == experiment::Action::Kind::update) {
      own.update(learning_rate(task_, updates_done_[replica]++));
    } else if (action.kind == experiment::Action::Kind::backward) {
      own.backward(which, {});
    } else {
      own.forward(which, data_.input(which), experiment::backward_of(actions_, index));
      const auto share = task_.training.share_of_loss(static_cast<std::size_t>(task_.micro_batches));
      losses_[replica][which.step] += own.loss(which, data_.labels(which), share).loss;
    }
  }

  void reduce() {
    std::vector<std::span<float>> gradients;
    for (const auto& replica : replicas_) gradients.push_back(replica->gradients());
    if (sums_in_double(true, task_.replicas)) {
      add_up<double>(gradients);
    } else {
      add_up<float>(gradients);
    }
  }

  const TrainingTask& task_;
  TrainingData data_;
  std::vector<experiment::Action> actions_;
  std::vector<std::unique_ptr<TrainingPart>> replicas_;
  std::vector<std::int64_t> updates_done_;   ///< of each replica
  std::vector<std::vector<double>> losses_;  ///< of each replica and step
};

}  // namespace

TrainingReference train_replicas_in_one_process(const ComputeTrainingReference& request, Backend& backend) {
  return ReplicasInOneProcess(request, backend).run();
}

}  // namespace paretopipe::stage
