// How an executor trains: a trial that is measured, and epochs.
#include <paretopipe/core/hash.hpp>
#include <paretopipe/run/pipeline_executor.hpp>
#include <paretopipe/run/trial_requests.hpp>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

/// The most bytes of inputs that the first stage makes at a time.
constexpr std::int64_t kBytesAtATime = std::int64_t{64} << 20;
/// How often an epoch reports its progress, if it has enough steps. The pipeline drains each time.
constexpr int kTellsPerEpoch = 20;
constexpr int kFewestAtATime = 8;

/// How many steps the stages get data for at a time. It depends on nothing that varies between two runs, because what
/// PipeDream learns depends on it.
int steps_at_a_time(std::int64_t batch_bytes, int steps) {
  const auto that_fit = std::max<std::int64_t>(1, kBytesAtATime / batch_bytes);
  return static_cast<int>(std::min<std::int64_t>(that_fit, std::max(kFewestAtATime, steps / kTellsPerEpoch)));
}

/// The order of the samples in an epoch. Never 0, which is the data's own order.
std::uint64_t order_of_epoch(const experiment::Trial& trial, int epoch) {
  return fnv1a64(fmt::format("{}/epoch/{}", trial.seed, epoch)) | 1U;
}

}  // namespace

record::TrialRecord PipelineExecutor::run_training(const experiment::Trial& trial) {
  TrainingEvidence evidence;
  evidence.trial.provenance = provenance_now();
  evidence.trial.failure = attempt([&](const char*& phase) {
    const auto& answer = prepare_to_train(trial, phase);
    auto failure = EmulatedDevices::too_small_for(trial, answer.description);
    if (!failure) failure = verify_training(trial, answer, evidence);
    if (!failure) train(trial, answer, evidence);
    return failure;
  });
  return finish_training_record(trial, std::move(evidence));
}

/// Makes everything ready for the phase "run".
const TrainingAnswer& PipelineExecutor::prepare_to_train(const experiment::Trial& trial, const char*& phase) {
  ensure_pipeline(trial, unsplit_.known(training_question_of(trial)) == nullptr, participants(trial));
  if (trial.data_parallel > 0) {
    pipeline_->join_replicas(trial.data_parallel);
  } else if (pipeline_->join_backward_ring()) {
    applied_.forget();
  }
  phase = "load";
  const auto& answer = ensure_training_known(trial);
  devices_->expect(trial, answer.description);
  phase = "network";
  ensure_network(trial);
  phase = "run";
  return answer;
}

/// Leaves the stages trained for these steps. With a lossy codec there is nothing to compare but their losses.
std::optional<record::Failure> PipelineExecutor::verify_training(const experiment::Trial& trial,
                                                                 const TrainingAnswer& answer,
                                                                 TrainingEvidence& evidence) {
  loaded_request_.reset();
  source_question_.reset();
  prepare_stages(trial, answer, training_task(trial, answer.model));
  const bool lossy = has_lossy_codec(trial);
  const auto reports = pipeline_->train(train_requests(trial, answer, next_tag_++, kVerifiedSteps, !lossy));
  if (!lossy) {
    return check_training(reports, answer.reference, loss_tolerance(trial, pipeline_->configured(), answer.process));
  }
  evidence.lossy = {reports.back().losses, answer.reference.losses};
  return std::nullopt;
}

/// Makes every stage begin with its initial weights. A stage on another host is sent the files of this host that it
/// lacks.
void PipelineExecutor::prepare_stages(const experiment::Trial& trial, const TrainingAnswer& answer,
                                      const stage::TrainingTask& task) {
  auto requests = training_requests(trial, task);
  const bool replicas = trial.data_parallel > 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!elsewhere(trial, i)) continue;
    auto& request = requests[i];
    if (!request.blocks.empty()) request.task.model = with_files_of(i, trial, request.task.model);
    if (i == 0 || replicas) request.given = {answer.data.input, answer.data.inputs, {}};
    if (i + 1 == requests.size() || replicas) request.given.labels = answer.data.labels;
  }
  pipeline_->prepare_training(requests, answer.inputs);
}

TrainingQuestion PipelineExecutor::training_question_of(const experiment::Trial& trial) const {
  auto question = training_question(trial, setup_of(trial), request_of(trial));
  const auto last = static_cast<std::size_t>(participants(trial)) - 1;
  for (std::size_t i = 0; i <= last; ++i) {
    const bool has_data = i == 0 || i == last || trial.data_parallel > 0;
    if (has_data && elsewhere(trial, i)) question.with_data = true;
  }
  return question;
}

const TrainingAnswer& PipelineExecutor::ensure_training_known(const experiment::Trial& trial) {
  const auto question = training_question_of(trial);
  if (const auto* answer = unsplit_.known(question)) return *answer;
  const auto& answer = unsplit_.answer(question);
  expect_others([this](const experiment::Trial& other) {
    if (other.training) unsplit_.answer(training_question_of(other));
  });
  unsplit_.end();
  return answer;
}

void PipelineExecutor::train(const experiment::Trial& trial, const TrainingAnswer& answer, TrainingEvidence& evidence) {
  network_->begin_trial();
  auto network = applied_.evidence();
  evidence.reports = pipeline_->train(train_requests(trial, answer, next_tag_++, trial.warmup + trial.batches));
  evidence.trial.model = answer.description;
  evidence.trial.unsplit = answer.process;
  describe_stages(evidence.reports.size(), evidence.trial);
  if (trial.shaping == experiment::Shaping::none) return;
  network_->end_trial(network);
  evidence.trial.network = std::move(network);
}

std::optional<record::Failure> PipelineExecutor::train_epochs(const experiment::Trial& trial, int epochs,
                                                              const EpochObserver& observer) {
  return attempt([&](const char*& phase) -> std::optional<record::Failure> {
    const auto& answer = prepare_to_train(trial, phase);
    if (auto too_small = EmulatedDevices::too_small_for(trial, answer.description)) return too_small;
    TrainingEvidence evidence;
    if (auto wrong = verify_training(trial, answer, evidence)) return wrong;
    auto task = training_task(trial, answer.model);
    auto data = data_at_ends(trial, task);
    const auto steps = static_cast<int>(pipeline_->count_labels(data.tasks.front().task.model) / trial.batch);
    if (steps < 1) throw UsageError(fmt::format("the data have fewer samples than a batch of {}", trial.batch));
    task.steps = std::int64_t{steps} * epochs;
    prepare_stages(trial, answer, task);
    for (int number = 1; number <= epochs; ++number) {
      for (auto& take : data.tasks) take.task.model.shuffle = order_of_epoch(trial, number);
      const auto epoch = train_one(trial, answer, data, steps, {.number = number, .of = epochs}, observer);
      if (!observer.done(epoch, [&] { return pipeline_->fetch_weights(participants(trial)); })) break;
    }
    return std::nullopt;
  });
}

/// The first stage makes inputs, and the last one makes labels, each from its own copy of the data.
PipelineExecutor::DataAtEnds PipelineExecutor::data_at_ends(const experiment::Trial& trial,
                                                            const stage::TrainingTask& task) {
  DataAtEnds data;
  for (const int stage : std::set{0, participants(trial) - 1}) {
    data.stages.push_back(stage);
    auto& of_end = data.tasks.emplace_back(stage::TakeTrainingData{task}).task;
    of_end.model = with_data_of(static_cast<std::size_t>(stage), trial, of_end.model);
  }
  return data;
}

Epoch PipelineExecutor::train_one(const experiment::Trial& trial, const TrainingAnswer& answer, DataAtEnds& data,
                                  int steps, Epoch epoch, const EpochObserver& observer) {
  const auto began_ns = now_ns();
  const int at_a_time = steps_at_a_time(answer.description.input_bytes * trial.micro_batches(), steps);
  epoch.of_samples = std::int64_t{steps} * trial.batch;
  double losses = 0;
  std::int64_t correct = 0;
  for (int first = 0; first < steps; first += at_a_time) {
    const int some = std::min(at_a_time, steps - first);
    for (auto& take : data.tasks) {
      take.task.distinct_inputs = some;
      take.task.model.first_batch = first;
    }
    pipeline_->take_training_data(data.stages, data.tasks);
    const auto reports = pipeline_->train(train_requests(trial, answer, next_tag_++, some));
    losses = std::accumulate(reports.back().losses.begin(), reports.back().losses.end(), losses);
    correct += reports.back().correct;
    epoch.samples = std::int64_t{first + some} * trial.batch;
    epoch.loss = losses / (first + some);
    epoch.accuracy = static_cast<double>(correct) / static_cast<double>(epoch.samples);
    epoch.seconds = static_cast<double>(now_ns() - began_ns) / 1e9;
    if (observer.progress) observer.progress(epoch);
  }
  return epoch;
}

}  // namespace paretopipe::run
