#include <paretopipe/compute/in_mode.hpp>
#include <paretopipe/compute/multiply_accumulates.hpp>
#include <paretopipe/script/measure.hpp>
#include <paretopipe/script/slice.hpp>

#include <ATen/ops/zeros.h>

namespace paretopipe::script {

namespace {

bool is_sendable(const at::Tensor& tensor, const config::ComputeMode& mode) {
  const auto type = mode.dtype == config::Precision::bfloat16 ? at::kBFloat16 : at::kFloat;
  const bool by_pixel = mode.memory_format == config::MemoryFormat::channels_last && tensor.dim() == 4;
  const auto format = by_pixel ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  return tensor.scalar_type() == type && tensor.dim() > 0 && tensor.numel() > 0 && tensor.is_contiguous(format);
}

Measured measured_of(const compute::Tensors& tensors, const config::ComputeMode& mode) {
  Measured measured;
  for (const auto& tensor : tensors) {
    measured.shapes.push_back(tensor.sizes().vec());
    measured.bytes += static_cast<std::int64_t>(tensor.nbytes());
    measured.sendable = measured.sendable && is_sendable(tensor, mode);
  }
  return measured;
}

}  // namespace

std::vector<Measured> measure(const ArchiveModel& model, const std::vector<std::int64_t>& input_shape,
                              const config::ComputeMode& mode) {
  const auto& graph = *model.prepared.graph;
  std::vector<Measured> measured;
  compute::Tensors crossing{compute::in_mode(at::zeros(input_shape, at::kFloat), mode)};
  Cut previous{graph.inputs().at(0)};
  compute::MultiplyAccumulateCounter counter;
  for (const auto& cut : model.cuts) {
    crossing = Slice(graph, previous, cut, mode).run(std::move(crossing));
    measured.push_back(measured_of(crossing, mode));
    measured.back().multiply_accumulates = counter.take();
    previous = cut;
    model.forget_file();
  }
  return measured;
}

}  // namespace paretopipe::script
