#include <paretopipe/compute/engine.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/sha256.hpp>
#include <paretopipe/script/chain.hpp>
#include <paretopipe/script/choose_cuts.hpp>
#include <paretopipe/script/container.hpp>
#include <paretopipe/script/find_cuts.hpp>
#include <paretopipe/script/guarded.hpp>
#include <paretopipe/script/measure.hpp>
#include <paretopipe/script/node_names.hpp>

#include <filesystem>
#include <iterator>
#include <map>
#include <unordered_set>
#include <utility>

#include <fmt/ranges.h>

namespace paretopipe::script {
namespace {

using Cuts = std::vector<Cut>;

PreparedModel load(const std::filesystem::path& file, const config::Archive& archive) {
  check_container(file);
  if (sha256_of_file(file) != archive.sha256) {
    throw UsageError(fmt::format("{} has changed since the sweep began; measure it anew", file.string()));
  }
  return guarded(ExitCode::usage, fmt::format("load {}", file.string()), [&] {
    try {
      return prepare(file);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{} cannot be cut: {}", file.string(), error.what()));
    }
  });
}

std::vector<Measured> measure_batch(const PreparedModel& model, const Cuts& cuts,
                                    const std::vector<std::int64_t>& shape, const stage::ModelRequest& request) {
  const auto mode = config::describe(request.compute);
  const auto attempt = fmt::format(
      "{} does not compute a{}{} batch of shape {} (if it was traced with another batch size, that may be built into "
      "it: use the same --batch, or trace it with this one)",
      request.model, mode.empty() ? "" : " ", mode, fmt::join(shape, "x"));
  return guarded(ExitCode::usage, attempt, [&] { return measure(*model.graph, cuts, shape, request.compute); });
}

void check_result(const Measured& result, const stage::ModelRequest& request) {
  const auto& shape = result.shapes.front();
  if (result.sendable && shape.front() == request.batch) return;
  throw UsageError(
      fmt::format("{} gives a result of shape {} for a batch of {}; it must be {}, with one row for each sample",
                  request.model, fmt::join(shape, "x"), request.batch, to_string(request.compute.dtype)));
}

std::int64_t parameter_bytes(const at::Tensor& tensor, const config::ComputeMode& mode) {
  const bool halved = tensor.scalar_type() == at::kFloat && mode.dtype == config::Precision::bfloat16;
  return static_cast<std::int64_t>(tensor.nbytes()) / (halved ? 2 : 1);
}

/// Parameters and buffers, each once: operators may share them.
void count_parameters(const Slice& slice, const PreparedModel& model, const config::ComputeMode& mode,
                      config::BlockDescription& block) {
  std::unordered_set<const void*> counted;
  for (const auto& tensor : slice.tensors()) {
    if (!counted.insert(tensor.data_ptr()).second) continue;
    block.parameter_bytes += parameter_bytes(tensor, mode);
    if (model.learnable.contains(tensor.data_ptr())) block.parameters += tensor.numel();
  }
}

/// A name that occurs again gets a number: "relu", "relu#2".
std::string unique_name(std::string name, std::map<std::string, int>& seen) {
  const int count = ++seen[name];
  return count == 1 ? name : fmt::format("{}#{}", name, count);
}

/// All but the last, the output.
Cuts sendable(const Cuts& cuts, const std::vector<Measured>& measured) {
  Cuts chosen;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    if (measured[i].sendable) chosen.push_back(cuts[i]);
  }
  return chosen;
}

/// A block is what its operators are; where two tensors cross behind it, these say more.
std::string name_of(const torch::jit::Graph& graph, const Cut& begin, const Cut& end, const NodeNames& names) {
  return end.size() == 1 ? names.name_of(nodes_between(graph, begin, end)) : label_of(end, names);
}

}  // namespace

Chain::Chain(const stage::ModelRequest& request)
    : model_(load(request.model, request.archive.value())), mode_(request.compute) {
  const auto& archive = *request.archive;
  description_.model = std::filesystem::path(request.model).filename().string();
  description_.batch = request.batch;
  description_.archive = archive;
  description_.input_shape = archive.input_shape;
  description_.input_shape.insert(description_.input_shape.begin(), request.batch);
  description_.input_bytes = sizeof(float);
  for (const auto size : description_.input_shape) description_.input_bytes *= size;

  auto& graph = *model_.graph;
  auto cuts = find_cuts(graph, archive.max_crossing);
  cuts.push_back({graph.outputs().at(0)});
  const auto measured = measure_batch(model_, cuts, description_.input_shape, request);
  check_result(measured.back(), request);

  const NodeNames names(graph);
  boundaries_.push_back({graph.inputs().at(0)});
  for (auto& cut : choose_cuts(sendable(cuts, measured), archive.cuts, names)) boundaries_.push_back(std::move(cut));
  boundaries_.push_back(cuts.back());
  describe_blocks(cuts, measured, names);
}

void Chain::describe_blocks(const Cuts& cuts, const std::vector<Measured>& measured, const NodeNames& names) {
  const auto& graph = *model_.graph;
  std::map<std::string, int> seen;
  config::BlockDescription block;
  auto end = std::next(boundaries_.begin());
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    block.multiply_accumulates += measured[i].multiply_accumulates;
    if (cuts[i] != *end) continue;
    const auto& begin = *std::prev(end++);
    const auto& shapes = measured[i].shapes;
    block.name = unique_name(name_of(graph, begin, cuts[i], names), seen);
    block.output_shape = shapes.front();
    block.other_shapes.assign(std::next(shapes.begin()), shapes.end());
    block.activation_bytes = measured[i].bytes;
    count_parameters(Slice(graph, begin, cuts[i]), model_, mode_, block);
    description_.blocks.push_back(std::exchange(block, {}));
  }
  auto& result = description_.blocks.back();  // is float32 in every mode
  result.activation_bytes = sizeof(float);
  for (const auto size : result.output_shape) result.activation_bytes *= size;
}

Slice Chain::block(int index) const {
  const auto begin = static_cast<std::size_t>(index);
  return {*model_.graph, boundaries_.at(begin), boundaries_.at(begin + 1), compute::mode_of_blocks(mode_)};
}

}  // namespace paretopipe::script
