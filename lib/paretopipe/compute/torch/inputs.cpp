#include "inputs.hpp"

#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/data_source.hpp>

#include <algorithm>

#include <fmt/ranges.h>

#include "images.hpp"

namespace paretopipe::compute {

namespace {

constexpr std::string_view kRandom = "random";

void check_takes_images(const Sample& sample, const stage::ModelRequest& request) {
  if (!sample.is_tokens() && sample.shape.size() == 3 && sample.shape.front() == 3) return;
  const auto what = sample.is_tokens() ? "tokens" : fmt::format("samples of {}", fmt::join(sample.shape, "x"));
  throw UsageError(fmt::format("{} takes {}, and {} gives images of 3 channels; use --data random", request.model, what,
                               request.data));
}

void check_takes_tokens(const Sample& sample, const stage::ModelRequest& request) {
  if (sample.is_tokens()) return;
  throw UsageError(fmt::format("{} takes samples of {}, and {} gives tokens; use --data random", request.model,
                               fmt::join(sample.shape, "x"), request.data));
}

/// Checks the request without reading any file.
void check_kind(const Sample& sample, const stage::ModelRequest& request) {
  try {
    experiment::check_data_choice(request.data, request.labels);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("the data are {}", error.what()));
  }
  const auto kind = experiment::parse_data(request.data).kind;
  if (kind == "tokens") check_takes_tokens(sample, request);
  if (kind != "tokens" && kind != "tensor" && kind != kRandom) check_takes_images(sample, request);
}

std::unique_ptr<Samples> open_samples(const Sample& sample, const stage::ModelRequest& request) {
  const auto [kind, place] = experiment::parse_data(request.data);
  if (kind == "tensor") return open_tensor_samples(place, sample);
  if (kind == "tokens") return open_token_samples(place, sample);
  if (kind == "images") return open_image_folder(place, sample);
  return open_data_set(kind, place, sample);
}

std::vector<std::int64_t> labels_of(const Samples& samples, const stage::ModelRequest& request) {
  if (request.labels == experiment::kOwnLabels) return samples.labels();
  return read_labels(request.labels);
}

/// The labels of all samples, one each.
std::vector<std::int64_t> checked_labels(const Samples& samples, const stage::ModelRequest& request) {
  auto labels = labels_of(samples, request);
  const auto count = static_cast<std::int64_t>(labels.size());
  if (count == samples.count()) return labels;
  throw UsageError(fmt::format("{} holds the classes of {} samples, and {} has {}", request.labels, count, request.data,
                               samples.count()));
}

at::Tensor gather(const Samples& samples, const Sample& sample, std::int64_t first, std::int64_t size) {
  auto batch = empty_batch(sample, size);
  for (std::int64_t row = 0; row < size; ++row) {
    samples.write((first + row) % samples.count(), batch.select(0, row));
  }
  return batch;
}

}  // namespace

void check_data(const Sample& sample, const stage::ModelRequest& request) {
  check_kind(sample, request);
  if (!experiment::parse_data(request.data).own_files()) return;
  const auto samples = open_samples(sample, request);
  if (!request.labels.empty()) checked_labels(*samples, request);
}

std::vector<at::Tensor> make_input_batches(const Sample& sample, const stage::ModelRequest& request, int count) {
  if (request.batch < 1) throw UsageError(fmt::format("a batch has at least one image, not {}", request.batch));
  check_kind(sample, request);
  const auto samples = request.data == kRandom ? nullptr : open_samples(sample, request);
  std::vector<at::Tensor> batches;
  for (int i = 0; i < count; ++i) {
    batches.push_back(samples ? gather(*samples, sample, std::int64_t{i} * request.batch, request.batch)
                              : random_input(sample, request.batch, request.seed, i));
  }
  return batches;
}

std::vector<std::int64_t> make_labels(const Sample& sample, const stage::ModelRequest& request, int count) {
  if (request.labels.empty()) return {};
  check_kind(sample, request);
  auto labels = checked_labels(*open_samples(sample, request), request);
  const auto wanted = static_cast<std::size_t>(std::int64_t{count} * request.batch);
  labels.resize(std::min(labels.size(), wanted));
  return labels;
}

}  // namespace paretopipe::compute
