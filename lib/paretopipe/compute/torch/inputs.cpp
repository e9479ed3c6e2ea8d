#include "inputs.hpp"

#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/experiment/data_source.hpp>

#include <algorithm>
#include <numeric>
#include <random>

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
  with_prefix("the data are ", [&] { experiment::check_data_choice(request.data, request.labels); });
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

/// The labels of all samples, one each.
std::vector<std::int64_t> checked_labels(const Samples& samples, const stage::ModelRequest& request) {
  auto labels = request.labels == experiment::kOwnLabels ? samples.labels() : read_labels(request.labels);
  const auto count = static_cast<std::int64_t>(labels.size());
  if (count == samples.count()) return labels;
  throw UsageError(fmt::format("{} holds the classes of {} samples, and {} has {}", request.labels, count, request.data,
                               samples.count()));
}

/// The samples' numbers in the order of the request.
std::vector<std::int64_t> order_of(std::int64_t count, const stage::ModelRequest& request) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::mt19937_64 random(request.shuffle);
  if (request.shuffle != 0) shuffle(order, random);
  return order;
}

std::int64_t first_sample_of(const stage::ModelRequest& request, int batch) {
  return (std::int64_t{request.first_batch} + batch) * request.batch;
}

at::Tensor gather(const Samples& samples, const Sample& sample, const std::vector<std::int64_t>& order,
                  std::int64_t first, std::int64_t size) {
  auto batch = empty_batch(sample, size);
  for (std::int64_t row = 0; row < size; ++row) {
    const auto place = static_cast<std::size_t>((first + row) % samples.count());
    samples.write(order[place], batch.select(0, row));
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
  const auto order = order_of(samples ? samples->count() : 0, request);
  std::vector<at::Tensor> batches;
  for (int i = 0; i < count; ++i) {
    batches.push_back(samples ? gather(*samples, sample, order, first_sample_of(request, i), request.batch)
                              : random_input(sample, request.batch, request.seed, request.first_batch + i));
  }
  return batches;
}

std::vector<std::int64_t> make_labels(const Sample& sample, const stage::ModelRequest& request, int count) {
  if (request.labels.empty()) return {};
  check_kind(sample, request);
  const auto all = checked_labels(*open_samples(sample, request), request);
  const auto order = order_of(static_cast<std::int64_t>(all.size()), request);
  const auto end = std::min(static_cast<std::size_t>(first_sample_of(request, count)), all.size());
  std::vector<std::int64_t> labels;
  for (auto i = static_cast<std::size_t>(first_sample_of(request, 0)); i < end; ++i) {
    labels.push_back(all[static_cast<std::size_t>(order[i])]);
  }
  return labels;
}

}  // namespace paretopipe::compute
