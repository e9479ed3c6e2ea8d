#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/crossing.hpp>
#include <paretopipe/stage/references.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::stage {

namespace {

/// Stands for an infinite difference: JSON has no infinity.
constexpr auto kLargest = std::numeric_limits<double>::max();

struct Differences {
  double largest = 0;
  double sum = 0;  ///< may be infinite
};

/// NaN and infinity count as infinitely different.
Differences differences(std::span<const float> left, std::span<const float> right) {
  Differences found;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double exact = std::abs(double{left[i]} - double{right[i]});
    const double difference = std::isfinite(exact) ? exact : kLargest;
    found.largest = std::max(found.largest, difference);
    found.sum += difference;
  }
  return found;
}

}  // namespace

std::span<const float> as_floats(const Activation& activation) {
  return {reinterpret_cast<const float*>(activation.bytes.data()), activation.bytes.size() / sizeof(float)};
}

std::size_t argmax(std::span<const float> row) {
  return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

double largest_magnitude(std::span<const Activation> outputs) {
  double largest = 0;
  for (const auto& output : outputs) {
    for (const float value : as_floats(output)) largest = std::max(largest, std::abs(double{value}));
  }
  return largest;
}

void Comparison::add(const Activation& result, const Activation& expected) {
  if (result.bytes.size() != expected.bytes.size()) {
    throw Error(ExitCode::internal, fmt::format("the result is {}, and the unsplit model's {}",
                                                wire::to_string(result.spec), wire::to_string(expected.spec)));
  }
  const auto images = expected.spec.shape.front();
  images_ += images;
  values_ += as_floats(expected).size();
  if (std::memcmp(result.bytes.data(), expected.bytes.data(), expected.bytes.size()) == 0) {
    agreeing_ += images;
    return;
  }
  const auto got = as_floats(result);
  const auto wanted = as_floats(expected);
  const auto found = differences(got, wanted);
  // Different bits of equal value (-0 and 0) also count as a difference: the smallest one that is not zero.
  max_abs_difference_ =
      std::max({max_abs_difference_, found.largest, double{std::numeric_limits<float>::denorm_min()}});
  sum_of_differences_ += found.sum;
  const auto classes = wanted.size() / static_cast<std::size_t>(images);
  for (std::size_t i = 0; i < wanted.size(); i += classes) {
    agreeing_ += argmax(got.subspan(i, classes)) == argmax(wanted.subspan(i, classes));
  }
}

double Comparison::mean_abs_difference() const {
  return values_ == 0 ? 0 : std::min(sum_of_differences_ / static_cast<double>(values_), kLargest);
}

double Comparison::top1_agreement() const {
  return images_ == 0 ? 0 : static_cast<double>(agreeing_) / static_cast<double>(images_);
}

namespace {

/// More than a trial of a million batches needs.
constexpr int kMostMicroBatches = 2'000'000;

/// Enough to detect a graph that computes something else, few enough that eager mode costs seconds.
constexpr std::int64_t kEagerImages = 8;

std::vector<Activation> compute_unsplit(const ModelRequest& model, int block_count, std::span<const Activation> inputs,
                                        Backend& backend) {
  const experiment::BlockRange all{0, block_count};
  backend.load(model, all);
  std::vector<Activation> outputs;
  for (const auto& input : inputs) outputs.push_back(backend.encode(backend.forward(all, input)));
  return outputs;
}

void check_finite(const std::vector<Activation>& outputs) {
  const auto finite = [](float value) { return std::isfinite(value); };
  for (const auto& output : outputs) {
    const auto values = as_floats(output);
    if (std::all_of(values.begin(), values.end(), finite)) continue;
    throw UsageError(
        "the unsplit model's output is not finite, so no split can be checked against it; try another seed or input");
  }
}

void check_labels(const ReferenceSet& references) {
  const auto& shape = references.outputs.front().spec.shape;
  const auto classes = shape.size() == 2 ? shape.back() : 0;
  for (const auto label : references.labels) {
    if (label >= 0 && label < classes) continue;
    throw UsageError(fmt::format("a label is {}, and the model's output {} has {} classes, which are numbered from 0",
                                 label, wire::to_string(references.outputs.front().spec), classes));
  }
}

UnsplitFidelity compare(std::span<const Activation> outputs, std::span<const Activation> eager,
                        const experiment::ComputeMode& mode) {
  Comparison comparison;
  for (std::size_t i = 0; i < eager.size(); ++i) comparison.add(outputs[i], eager[i]);
  return {comparison.max_abs_difference(), comparison.top1_agreement(), comparison.images(),
          mode.relative_tolerance() * largest_magnitude(eager)};
}

/// The first micro-batches, up to a limited number of images.
std::span<const Activation> first_few(const std::vector<Activation>& micro_batches, int micro_batch_images) {
  const auto few = static_cast<std::size_t>((kEagerImages + micro_batch_images - 1) / std::max(1, micro_batch_images));
  return std::span(micro_batches).first(std::min(few, micro_batches.size()));
}

}  // namespace

ModelRequest for_whole_batches(const ModelRequest& model, int distinct_inputs, int micro_batches) {
  const auto images = std::int64_t{model.batch} * micro_batches;
  if (micro_batches < 1 || distinct_inputs < 1 || std::int64_t{distinct_inputs} * micro_batches > kMostMicroBatches ||
      images > std::numeric_limits<int>::max()) {
    throw wire::ProtocolError(fmt::format("the driver asked for {} batches of {} micro-batches with {} images each",
                                          distinct_inputs, micro_batches, model.batch));
  }
  auto whole = model;
  whole.batch = static_cast<int>(images);
  return whole;
}

std::vector<Activation> make_micro_batches(const ModelRequest& whole, int distinct_inputs, int micro_batches,
                                           Backend& backend) {
  std::vector<Activation> inputs;
  for (const auto& batch : backend.make_inputs(whole, distinct_inputs)) {
    for (auto& micro_batch : cut(batch, micro_batches, backend)) inputs.push_back(std::move(micro_batch));
  }
  return inputs;
}

ComputedReferences compute_references(const ComputeReferences& request, Backend& backend) {
  const auto whole = for_whole_batches(request.model, request.distinct_inputs, request.micro_batches);
  const auto inputs = make_micro_batches(whole, request.distinct_inputs, request.micro_batches, backend);
  std::vector<Activation> eager;
  if (request.model.compute.compute == experiment::Compute::optimized) {
    auto model = request.model;
    model.compute = {};
    eager = compute_unsplit(model, request.block_count, first_few(inputs, request.model.batch), backend);
  }
  ComputedReferences computed;
  computed.tensors = compute_unsplit(request.model, request.block_count, inputs, backend);
  check_finite(computed.tensors);
  computed.reply.ends = {inputs.front().spec, computed.tensors.front().spec};
  if (!eager.empty()) computed.reply.against_eager = compare(computed.tensors, eager, request.model.compute);
  if (!request.with_inputs) return computed;
  computed.reply.labels = backend.make_labels(whole, request.distinct_inputs);
  computed.tensors.insert(computed.tensors.end(), inputs.begin(), inputs.end());
  return computed;
}

std::vector<wire::TensorSpec> tensors_of(const TakeReferences& request) {
  for_whole_batches(request.model, request.distinct_inputs, request.micro_batches);
  static_cast<void>(wire::byte_size(request.ends.result));  // refuses an invalid spec
  const auto count = static_cast<std::size_t>(request.distinct_inputs * request.micro_batches);
  std::vector<wire::TensorSpec> specs(count, request.ends.result);
  if (!request.with_inputs) return specs;
  static_cast<void>(wire::byte_size(request.ends.input));
  specs.insert(specs.end(), count, request.ends.input);
  return specs;
}

std::vector<Activation> copy_inputs(std::span<Activation> received, Backend& backend) {
  std::vector<Activation> inputs;
  for (auto& tensor : received) {
    inputs.push_back(backend.allocate(tensor.spec));
    std::ranges::copy(tensor.bytes, inputs.back().bytes.begin());
    tensor = {};
  }
  return inputs;
}

ReferenceSet take_references(const TakeReferences& request, std::vector<Activation> tensors, Backend& backend) {
  const auto expected = tensors_of(request).size();
  if (tensors.size() != expected) {
    throw wire::ProtocolError(fmt::format("the driver sent {} tensors where {} were due", tensors.size(), expected));
  }
  const auto whole = for_whole_batches(request.model, request.distinct_inputs, request.micro_batches);
  const auto count = static_cast<std::size_t>(request.distinct_inputs * request.micro_batches);
  ReferenceSet references;
  if (request.with_inputs) {
    references.labels = request.labels;
    references.inputs = copy_inputs(std::span(tensors).subspan(count), backend);
    tensors.resize(count);
  } else {
    references.labels = backend.make_labels(whole, request.distinct_inputs);
    references.inputs = make_micro_batches(whole, request.distinct_inputs, request.micro_batches, backend);
  }
  references.outputs = std::move(tensors);
  check_labels(references);
  return references;
}

}  // namespace paretopipe::stage
