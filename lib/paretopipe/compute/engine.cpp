#include <paretopipe/compute/device.hpp>
#include <paretopipe/compute/engine.hpp>
#include <paretopipe/compute/in_mode.hpp>
#include <paretopipe/compute/optimise.hpp>
#include <paretopipe/compute/tensors.hpp>

#include <utility>

#include <ATen/ops/zeros.h>

namespace paretopipe::compute {
namespace {

bool uses_programs(const config::ComputeMode& mode) {
  return mode.compute == config::Compute::optimized || !device().is_cpu();
}

}  // namespace

config::ComputeMode mode_of_blocks(const config::ComputeMode& mode) {
  return uses_programs(mode) ? config::ComputeMode{} : mode;
}

void Engine::reset(const config::ComputeMode& mode, int block_count) {
  mode_ = mode;
  block_count_ = block_count;
  programs_.clear();
}

void Engine::prepare(config::BlockRange range, const stage::Boundary& incoming) {
  if (!uses_programs(mode_)) return;
  Tensors examples;
  for (const auto& spec : incoming) examples.push_back(to_tensor(allocate_activation(spec)).zero_().to(device()));
  std::map<Key, Program> kept;
  if (auto wanted = programs_.extract(key_of(range, examples))) kept.insert(std::move(wanted));
  programs_ = std::move(kept);
  if (range.empty()) return;
  if (range.begin == 0) examples.front() = in_mode(examples.front(), mode_);
  program(range, examples).run(examples);
}

stage::Activation Engine::forward(config::BlockRange range, stage::Activation input) {
  // Held until all is computed: a GPU's memory is another activation's as soon as it is given back.
  const auto held = to_device(std::move(input), device());
  auto tensors = to_tensors(held);
  if (range.begin == 0) tensors.front() = in_mode(tensors.front(), mode_);
  if (uses_programs(mode_)) {
    const auto& code = program(range, tensors);
    tensors = code.run(std::move(tensors));
  } else {
    tensors = run_blocks(range, std::move(tensors));
  }
  auto output = range.end == block_count_
                    ? to_activation(tensors.front().to(at::kFloat), wire::MemoryFormat::contiguous)
                    : to_activation(std::move(tensors), mode_);
  finish(device());
  return output;
}

std::int64_t Engine::program_bytes(const std::unordered_set<const void*>& shared) const {
  std::int64_t bytes = 0;
  for (const auto& [key, program] : programs_) {
    for (const auto& tensor : program.tensors()) {
      // A tensor in a layout of oneDNN's has no address, and is always the program's own.
      if (!tensor.is_mkldnn() && shared.contains(tensor.data_ptr())) continue;
      bytes += tensor.numel() * static_cast<std::int64_t>(tensor.element_size());
    }
  }
  return bytes;
}

Engine::Key Engine::key_of(config::BlockRange range, const Tensors& inputs) {
  Key key{range.begin, range.end, {}};
  key.shapes.reserve(inputs.size() * (1 + wire::kMaxRank));
  for (const auto& input : inputs) {
    key.shapes.push_back(input.dim());
    key.shapes.insert(key.shapes.end(), input.sizes().begin(), input.sizes().end());
  }
  return key;
}

Tensors Engine::run_blocks(config::BlockRange range, Tensors tensors) const {
  for (int i = range.begin; i < range.end; ++i) tensors = blocks_.run(i, std::move(tensors));
  return tensors;
}

const Program& Engine::program(config::BlockRange range, const Tensors& inputs) {
  const auto key = key_of(range, inputs);
  const auto found = programs_.find(key);
  return found != programs_.end() ? found->second : programs_.emplace(key, make_program(range, inputs)).first->second;
}

Program Engine::make_program(config::BlockRange range, const Tensors& inputs) const {
  Tensors examples;
  for (const auto& input : inputs) {
    examples.push_back(at::zeros(input.sizes(), input.is_floating_point() ? at::kFloat : input.scalar_type()));
  }
  auto graph = blocks_.graph_of(range, examples);
  for (auto& example : examples) example = in_mode(example, mode_).to(device());
  if (mode_.compute == config::Compute::optimized) {
    optimise(graph, examples, mode_);
  } else {
    place(graph, mode_, device());
  }
  return Program(std::move(graph));
}

}  // namespace paretopipe::compute
