#include <paretopipe/compute/in_mode.hpp>
#include <paretopipe/compute/multiply_accumulates.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/model/describe.hpp>

#include <ATen/ops/zeros.h>

namespace paretopipe::model {
namespace {

/// Describes for a whole batch what crosses the cut after a block; `crossing` holds one image's.
void describe_crossing(const compute::Tensors& crossing, int batch, config::BlockDescription& block) {
  for (const auto& tensor : crossing) {
    auto shape = tensor.sizes().vec();
    shape.at(0) *= batch;
    block.activation_bytes += static_cast<std::int64_t>(tensor.nbytes()) * batch;
    if (&tensor == &crossing.front()) {
      block.output_shape = std::move(shape);
    } else {
      block.other_shapes.push_back(std::move(shape));
    }
  }
}

}  // namespace

config::ModelDescription describe_model(const Model& model, std::int64_t num_classes, int batch,
                                        const config::ComputeMode& mode) {
  if (batch < 1) throw UsageError(fmt::format("a batch has at least one image, not {}", batch));
  if (num_classes < 1) throw UsageError(fmt::format("a classifier has at least one class, not {}", num_classes));
  const auto input = at::zeros(model.input_shape(1), model.input_type());
  config::ModelDescription description;
  description.model = model.name;
  description.batch = batch;
  description.input_shape = model.input_shape(batch);
  description.input_bytes = static_cast<std::int64_t>(input.nbytes()) * batch;
  compute::Tensors crossing{compute::in_mode(input, mode)};
  compute::MultiplyAccumulateCounter counter;
  const auto plans = model.plan(num_classes);
  for (const auto& plan : plans) {
    const auto block = build_block(model.name, plan, std::nullopt, mode);
    crossing = block.forward(std::move(crossing));
    if (&plan == &plans.back()) crossing.front() = crossing.front().to(at::kFloat);  // as results are
    description.blocks.push_back({.name = block.name,
                                  .output_shape = {},
                                  .parameters = block.parameters(),
                                  .parameter_bytes = block.parameter_bytes(),
                                  .multiply_accumulates = counter.take() * batch});
    describe_crossing(crossing, batch, description.blocks.back());
  }
  return description;
}

}  // namespace paretopipe::model
