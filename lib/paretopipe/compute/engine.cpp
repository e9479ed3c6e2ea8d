#include <paretopipe/compute/engine.hpp>
#include <paretopipe/compute/in_mode.hpp>
#include <paretopipe/compute/optimise.hpp>
#include <paretopipe/compute/tensors.hpp>

#include <utility>

#include <ATen/ops/zeros.h>

namespace paretopipe::compute {

void Engine::reset(const config::ComputeMode& mode, int block_count) {
  mode_ = mode;
  block_count_ = block_count;
  programs_.clear();
}

void Engine::prepare(config::BlockRange range, const wire::TensorSpec& input) {
  if (mode_.compute != config::Compute::optimized) return;
  std::map<Key, Program> kept;
  if (auto wanted = programs_.extract({range.begin, range.end, input.shape})) kept.insert(std::move(wanted));
  programs_ = std::move(kept);
  if (range.empty()) return;
  auto example = to_tensor(allocate_activation(input)).zero_();
  if (range.begin == 0) example = in_mode(example, mode_);
  program(range, example).run(example);
}

stage::Activation Engine::forward(config::BlockRange range, stage::Activation input) {
  auto tensor = to_tensor(std::move(input));
  if (range.begin == 0) tensor = in_mode(tensor, mode_);
  if (mode_.compute == config::Compute::optimized) {
    const auto& optimised = program(range, tensor);
    tensor = optimised.run(std::move(tensor));
  } else {
    tensor = run_blocks(range, std::move(tensor));
  }
  if (range.end == block_count_) return to_activation(tensor.to(at::kFloat), wire::MemoryFormat::contiguous);
  const auto spec = stage::activation_spec(mode_, tensor.sizes().vec());
  return to_activation(std::move(tensor), spec.memory_format);
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

at::Tensor Engine::run_blocks(config::BlockRange range, at::Tensor tensor) const {
  for (int i = range.begin; i < range.end; ++i) tensor = blocks_.run(i, std::move(tensor));
  return tensor;
}

const Program& Engine::program(config::BlockRange range, const at::Tensor& input) {
  const Key key{range.begin, range.end, input.sizes().vec()};
  const auto found = programs_.find(key);
  return found != programs_.end() ? found->second : programs_.emplace(key, make_program(range, input)).first->second;
}

Program Engine::make_program(config::BlockRange range, const at::Tensor& input) const {
  const auto type = input.is_floating_point() ? at::kFloat : input.scalar_type();
  const auto example = at::zeros(input.sizes(), type);
  auto graph = blocks_.graph_of(range, example);
  optimise(graph, in_mode(example, mode_), mode_);
  return Program(std::move(graph));
}

}  // namespace paretopipe::compute
