#include <paretopipe/core/hash.hpp>
#include <paretopipe/run/pipeline_executor.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

/// The first stage makes the inputs of so many bytes at a time.
constexpr std::int64_t kBytesAtATime = std::int64_t{64} << 20;

/// The order of the samples in an epoch; never 0, which is their own.
std::uint64_t order_of_epoch(const experiment::Trial& trial, int epoch) {
  return fnv1a64(fmt::format("{}/epoch/{}", trial.seed, epoch)) | 1U;
}

}  // namespace

std::optional<record::Failure> PipelineExecutor::train_epochs(const experiment::Trial& trial, int epochs,
                                                              const EpochObserver& observer) {
  return attempt([&](const char*& phase) -> std::optional<record::Failure> {
    const auto& answer = prepare_to_train(trial, phase);
    if (auto too_small = EmulatedDevices::too_small_for(trial, answer.description)) return too_small;
    if (auto wrong = verify_training(trial, answer)) return wrong;
    auto task = training_task(trial, request_of(trial));
    pipeline_->prepare_training(training_requests(trial, task));
    const auto steps = static_cast<int>(pipeline_->count_labels(task.model) / trial.batch);
    if (steps < 1) throw UsageError(fmt::format("the data have fewer samples than a batch of {}", trial.batch));
    const auto batch_bytes = answer.description.input_bytes * trial.micro_batches();
    const auto at_a_time = static_cast<int>(std::clamp<std::int64_t>(kBytesAtATime / batch_bytes, 1, steps));
    for (Epoch epoch{1, epochs}; epoch.number <= epochs; ++epoch.number) {
      task.model.shuffle = order_of_epoch(trial, epoch.number);
      train_one(trial, answer, task, steps, at_a_time, epoch);
      observer(epoch, pipeline_->fetch_weights(participants(trial)));
    }
    return std::nullopt;
  });
}

void PipelineExecutor::train_one(const experiment::Trial& trial, const TrainingAnswer& answer,
                                 stage::TrainingTask& task, int steps, int at_a_time, Epoch& epoch) {
  const auto began_ns = now_ns();
  double losses = 0;
  std::int64_t correct = 0;
  for (int first = 0; first < steps; first += at_a_time) {
    task.distinct_inputs = std::min(at_a_time, steps - first);
    task.model.first_batch = first;
    pipeline_->take_training_data(task, participants(trial));
    const auto reports = pipeline_->train(train_requests(trial, answer, next_tag_++, task.distinct_inputs));
    losses = std::accumulate(reports.back().losses.begin(), reports.back().losses.end(), losses);
    correct += reports.back().correct;
  }
  epoch.samples = std::int64_t{steps} * trial.batch;
  epoch.loss = losses / steps;
  epoch.accuracy = static_cast<double>(correct) / static_cast<double>(epoch.samples);
  epoch.seconds = static_cast<double>(now_ns() - began_ns) / 1e9;
}

}  // namespace paretopipe::run
