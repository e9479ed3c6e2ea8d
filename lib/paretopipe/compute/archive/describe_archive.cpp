#include "describe_archive.hpp"

#include <paretopipe/compute/torch/multiply_accumulates.hpp>
#include <paretopipe/compute/torch/samples.hpp>
#include <paretopipe/compute/torch/tensors.hpp>
#include <paretopipe/compute/torch/with_libtorch.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <unordered_set>
#include <utility>

#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include "archive_model.hpp"
#include "cuts.hpp"
#include "node_names.hpp"
#include "slice.hpp"
#include "trainable.hpp"

namespace paretopipe::archive {

namespace {

/// A cut of the graph as measured for one batch.
struct Measured {
  std::vector<std::vector<std::int64_t>> shapes;  ///< of the tensors that cross it
  std::int64_t bytes = 0;                         ///< of all of them
  bool sendable = true;                           ///< each is of the mode's type, dense in its order and not empty
  std::int64_t multiply_accumulates = 0;          ///< from the previous cut to this one
  bool has_gradient = false;                      ///< in training: something that learns lies before it
};

bool is_sendable(const at::Tensor& tensor, const experiment::ComputeMode& mode) {
  const auto spec = stage::activation_spec(mode, tensor.sizes().vec());
  return tensor.scalar_type() == compute::scalar_type(spec.dtype) && tensor.dim() > 0 && tensor.numel() > 0 &&
         tensor.is_contiguous(compute::memory_format(spec.memory_format));
}

Measured measured_of(const compute::Tensors& tensors, const experiment::ComputeMode& mode) {
  Measured measured;
  for (const auto& tensor : tensors) {
    measured.shapes.push_back(tensor.sizes().vec());
    measured.bytes += static_cast<std::int64_t>(tensor.nbytes());
    measured.sendable = measured.sendable && is_sendable(tensor, mode);
  }
  return measured;
}

/// An input of zeros, which are valid in whatever way a model reads them.
at::Tensor zeros(const std::vector<std::int64_t>& shape, const experiment::ComputeMode& mode) {
  return compute::in_mode(at::zeros(shape, at::kFloat), mode);
}

/// Noise that autograd accepts as an input. A model may divide by its input's spread, which is 0 for zeros. The noise
/// is in [0, 0.5]: a model that takes its input for token ids gets the id 0, as it would from zeros.
at::Tensor noise(const std::vector<std::int64_t>& shape, const experiment::ComputeMode& mode) {
  const c10::InferenceMode with_gradients(false);
  const auto input = at::zeros(shape, at::kFloat);
  compute::fill_uniform({input.data_ptr<float>(), static_cast<std::size_t>(input.numel())},
                        compute::sequence_key(0, "archive", "trial"), 0.5F);
  return compute::in_mode(input.abs(), mode);
}

/// Computes a model between two cuts, forward, and backward if it is to be trained.
Trial try_between(const PreparedModel& model, const Cut& begin, const Cut& end, const experiment::ComputeMode& mode,
                  compute::Tensors crossing) {
  if (!model.state.empty()) return try_training(model, begin, end, crossing);
  const auto program = slice(*model.graph, begin, end, mode);
  compute::MultiplyAccumulateCounter counter;
  auto results = program.run(std::move(crossing));
  return {std::move(results), counter.take()};
}

/// Computes the model once, from each of its cuts to the next, with the mode's type and memory format: on zeros, or on
/// noise if it is to be trained. Returns one entry per cut. Throws what LibTorch throws if an operator refuses its
/// operands. Call under c10::InferenceMode.
std::vector<Measured> measure(const ArchiveModel& model, const std::vector<std::int64_t>& input_shape,
                              const experiment::ComputeMode& mode) {
  const auto& graph = *model.prepared.graph;
  std::vector<Measured> measured;
  compute::Tensors crossing{model.prepared.state.empty() ? zeros(input_shape, mode) : noise(input_shape, mode)};
  Cut previous{graph.inputs().at(0)};
  for (const auto& cut : model.cuts) {
    auto trial = try_between(model.prepared, previous, cut, mode, std::move(crossing));
    crossing = std::move(trial.results);
    measured.push_back(measured_of(crossing, mode));
    measured.back().multiply_accumulates = trial.multiply_accumulates;
    previous = cut;
    measured.back().has_gradient = crossing.front().requires_grad();
    model.forget_file();
  }
  return measured;
}

using Cuts = std::vector<Cut>;

/// Describes the model for the request's batch, without its blocks.
experiment::ModelDescription describe_input(const stage::ModelRequest& request) {
  experiment::ModelDescription description;
  description.model = std::filesystem::path(request.model).filename().string();
  description.batch = request.batch;
  description.archive = request.archive;
  description.input_shape = request.archive->input_shape;
  description.input_shape.insert(description.input_shape.begin(), request.batch);
  description.input_bytes = sizeof(float);
  for (const auto size : description.input_shape) description.input_bytes *= size;
  return description;
}

std::vector<Measured> measure_batch(const ArchiveModel& model, const std::vector<std::int64_t>& shape,
                                    const stage::ModelRequest& request) {
  const auto mode = experiment::describe_tensors(request.compute);
  const auto attempt = fmt::format(
      "{} does not compute a{}{} batch of shape {} (if it was traced with another batch size, that may be built into "
      "it: use the same --batch, or trace it with this one)",
      request.model, mode.empty() ? "" : " ", mode, fmt::join(shape, "x"));
  return compute::with_libtorch(
      attempt, [&] { return measure(model, shape, request.compute); }, ExitCode::usage);
}

void check_result(const Measured& result, const stage::ModelRequest& request) {
  const auto& shape = result.shapes.front();
  if (result.sendable && shape.front() == request.batch) return;
  throw UsageError(
      fmt::format("{} gives a result of shape {} for a batch of {}; it must be {}, with one row for each sample",
                  request.model, fmt::join(shape, "x"), request.batch, to_string(request.compute.dtype)));
}

void check_learned(const Measured& result, const stage::ModelRequest& request) {
  const auto& shape = result.shapes.front();
  if (!result.has_gradient) {
    throw UsageError(
        fmt::format("{} cannot be trained: its result does not depend on a parameter by operators that have a gradient",
                    request.model));
  }
  if (shape.size() == 2) return;
  throw UsageError(fmt::format(
      "{} cannot be trained: its result has the shape {}, and the loss needs one row of class scores for each sample",
      request.model, fmt::join(shape, "x")));
}

std::int64_t parameter_bytes(const at::Tensor& tensor, const experiment::ComputeMode& mode) {
  const bool halved = tensor.scalar_type() == at::kFloat && mode.dtype == experiment::Precision::bfloat16;
  return static_cast<std::int64_t>(tensor.nbytes()) / (halved ? 2 : 1);
}

/// Counts parameters and buffers, each once, because operators may share them.
void count_parameters(const compute::Program& program, const PreparedModel& model, const experiment::ComputeMode& mode,
                      experiment::BlockDescription& block) {
  std::unordered_set<const void*> counted;
  for (const auto& tensor : program.tensors()) {
    if (!counted.insert(tensor.data_ptr()).second) continue;
    block.parameter_bytes += parameter_bytes(tensor, mode);
    if (model.learnable.contains(tensor.data_ptr())) block.parameters += tensor.numel();
  }
}

/// Numbers a repeated name: "relu", "relu#2".
std::string unique_name(std::string name, std::map<std::string, int>& seen) {
  const int count = ++seen[name];
  return count == 1 ? name : fmt::format("{}#{}", name, count);
}

/// The positions of the cuts that a link can carry and the request asks for, followed by the output.
std::vector<int> choose_positions(const ArchiveModel& model, const std::vector<Measured>& measured,
                                  const experiment::Archive& archive, const NodeNames& names) {
  Cuts sendable;
  for (std::size_t i = 0; i + 1 < model.cuts.size(); ++i) {
    if (measured[i].sendable) sendable.push_back(model.cuts[i]);
  }
  auto chosen = choose_cuts(sendable, archive.cuts, names);
  chosen.push_back(model.cuts.back());
  std::vector<int> positions;
  auto next = model.cuts.begin();
  for (const auto& cut : chosen) {
    next = std::find(next, model.cuts.end(), cut);
    positions.push_back(static_cast<int>(next - model.cuts.begin()));
  }
  return positions;
}

/// Names a block after its operators, or after the tensors that cross behind it if there are two.
std::string name_of(const torch::jit::Graph& graph, const Cut& begin, const Cut& end, const NodeNames& names) {
  return end.size() == 1 ? names.name_of(nodes_between(graph, begin, end)) : label_of(end, names);
}

/// Describes what lies between two cuts, except for its multiply-accumulates. `measured` is of the second cut.
experiment::BlockDescription describe_block(const ArchiveModel& model, const Cut& begin, const Cut& end,
                                            const Measured& measured, const experiment::ComputeMode& mode) {
  experiment::BlockDescription block;
  block.output_shape = measured.shapes.front();
  block.other_shapes.assign(std::next(measured.shapes.begin()), measured.shapes.end());
  block.activation_bytes = measured.bytes;
  count_parameters(slice(*model.prepared.graph, begin, end), model.prepared, mode, block);
  return block;
}

std::vector<experiment::BlockDescription> describe_blocks(const ArchiveModel& model, const std::vector<int>& positions,
                                                          const std::vector<Measured>& measured,
                                                          const experiment::ComputeMode& mode, const NodeNames& names) {
  const auto& graph = *model.prepared.graph;
  std::map<std::string, int> seen;
  std::vector<experiment::BlockDescription> blocks;
  Cut begin{graph.inputs().at(0)};
  auto next = measured.begin();
  for (const int position : positions) {
    const auto& end = model.cuts[static_cast<std::size_t>(position)];
    const auto last = measured.begin() + position;
    auto& block = blocks.emplace_back(describe_block(model, begin, end, *last, mode));
    block.name = unique_name(name_of(graph, begin, end, names), seen);
    while (next <= last) block.multiply_accumulates += next++->multiply_accumulates;
    begin = end;
  }
  auto& result = blocks.back();  // results are float32 in every mode
  result.activation_bytes = sizeof(float);
  for (const auto size : result.output_shape) result.activation_bytes *= size;
  return blocks;
}

/// Throws UsageError if blocks share what training changes.
void check_owners(const ArchiveModel& model, const std::vector<int>& positions) {
  Cuts boundaries{{model.prepared.graph->inputs().at(0)}};
  for (const int position : positions) boundaries.push_back(model.cuts[static_cast<std::size_t>(position)]);
  owners_of_state(model.prepared, boundaries);
}

}  // namespace

experiment::ModelDescription describe_archive(const stage::ModelRequest& request) {
  const auto model = load_archive(request.model, request.archive.value());
  auto description = describe_input(request);
  const auto measured = measure_batch(model, description.input_shape, request);
  check_result(measured.back(), request);
  if (request.archive->trained) check_learned(measured.back(), request);
  const NodeNames names(*model.prepared.graph);
  description.cut_positions = choose_positions(model, measured, *request.archive, names);
  if (request.archive->trained) check_owners(model, description.cut_positions);
  description.blocks = describe_blocks(model, description.cut_positions, measured, request.compute, names);
  return description;
}

}  // namespace paretopipe::archive
