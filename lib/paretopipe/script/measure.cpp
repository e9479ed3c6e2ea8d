#include <paretopipe/compute/multiply_accumulates.hpp>
#include <paretopipe/script/measure.hpp>
#include <paretopipe/script/slice.hpp>

#include <ATen/ops/zeros.h>

namespace paretopipe::script {

std::vector<Measured> measure(const torch::jit::Graph& graph, const std::vector<const torch::jit::Value*>& values,
                              const std::vector<std::int64_t>& input_shape) {
  std::vector<Measured> measured;
  auto activation = at::zeros(input_shape, at::kFloat);
  const torch::jit::Value* previous = graph.inputs().at(0);
  compute::MultiplyAccumulateCounter counter;
  for (const auto* value : values) {
    activation = Slice(graph, previous, value).run(std::move(activation));
    measured.push_back({.shape = activation.sizes().vec(),
                        .bytes = static_cast<std::int64_t>(activation.nbytes()),
                        .sendable = activation.scalar_type() == at::kFloat && activation.dim() > 0 &&
                                    activation.numel() > 0 && activation.is_contiguous(),
                        .multiply_accumulates = counter.take()});
    previous = value;
  }
  return measured;
}

}  // namespace paretopipe::script
