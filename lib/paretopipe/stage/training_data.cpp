#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/stage/references.hpp>
#include <paretopipe/stage/training_data.hpp>
#include <paretopipe/wire/frame.hpp>

#include <random>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::stage {

namespace {

std::vector<std::int64_t> make_labels(const ModelRequest& whole, int batches, Backend& backend) {
  const auto images = static_cast<std::size_t>(batches) * static_cast<std::size_t>(whole.batch);
  auto labels = backend.make_labels(whole, batches);
  for (const auto label : labels) {
    if (label >= 0 && label < whole.num_classes) continue;
    throw UsageError(fmt::format("a label is {}, and {} has {} classes, which are numbered from 0", label, whole.model,
                                 whole.num_classes));
  }
  const auto samples = labels.size();
  std::mt19937_64 random(fnv1a64(fmt::format("{}/labels", whole.seed)));
  while (labels.size() < images) {
    const auto drawn = draw_below(random, static_cast<std::uint64_t>(whole.num_classes));
    labels.push_back(samples > 0 ? labels[labels.size() % samples] : static_cast<std::int64_t>(drawn));
  }
  return labels;
}

}  // namespace

TrainingData::TrainingData(const TrainingTask& task, bool with_inputs, bool with_labels, Backend& backend,
                           std::size_t first_step)
    : first_step_(first_step) {
  const auto whole = for_whole_batches(task.model, task.distinct_inputs, task.micro_batches);
  batches_ = static_cast<std::size_t>(task.distinct_inputs);
  micro_batches_ = static_cast<std::size_t>(task.micro_batches);
  images_ = static_cast<std::size_t>(task.model.batch);
  if (with_inputs) inputs_ = make_micro_batches(whole, task.distinct_inputs, task.micro_batches, backend);
  if (with_labels) labels_ = make_labels(whole, task.distinct_inputs, backend);
}

void TrainingData::take(std::vector<Activation> inputs, std::vector<std::int64_t> labels) {
  const auto count = batches_ * micro_batches_;
  if ((!inputs.empty() && inputs.size() != count) || (!labels.empty() && labels.size() != count * images_)) {
    throw wire::ProtocolError(fmt::format("the driver sent {} inputs and {} labels for {} micro-batches of {} images",
                                          inputs.size(), labels.size(), count, images_));
  }
  if (!inputs.empty()) inputs_ = std::move(inputs);
  if (!labels.empty()) labels_ = std::move(labels);
}

std::vector<wire::TensorSpec> tensors_of(const PrepareTraining& request) {
  const auto& [task, given] = std::tie(request.task, request.given);
  const auto most = std::int64_t{task.distinct_inputs} * task.micro_batches;
  if (given.inputs < 0 || given.inputs > most) {
    throw wire::ProtocolError(fmt::format("the driver announced {} inputs of {} micro-batches", given.inputs, most));
  }
  return std::vector<wire::TensorSpec>(static_cast<std::size_t>(given.inputs), given.input);
}

void TrainingData::keep_only(int first, int count) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const auto index = static_cast<int>(i % micro_batches_);
    if (index < first || index >= first + count) inputs_[i] = {};
  }
}

std::span<const std::int64_t> TrainingData::labels(MicroBatch which) const {
  return std::span(labels_).subspan(place_of(which) * images_, images_);
}

}  // namespace paretopipe::stage
