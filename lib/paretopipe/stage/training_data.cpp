#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/stage/references.hpp>
#include <paretopipe/stage/training_data.hpp>

#include <random>

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

std::span<const std::int64_t> TrainingData::labels(MicroBatch which) const {
  return std::span(labels_).subspan(place_of(which) * images_, images_);
}

}  // namespace paretopipe::stage
