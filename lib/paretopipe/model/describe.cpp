#include <paretopipe/compute/in_mode.hpp>
#include <paretopipe/compute/multiply_accumulates.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/model/describe.hpp>

#include <ATen/ops/zeros.h>

namespace paretopipe::model {
namespace {

/// The output of one image as it is for a batch.
std::vector<std::int64_t> batched_shape(const at::Tensor& output, int batch) {
  auto shape = output.sizes().vec();
  shape.at(0) *= batch;
  return shape;
}

}  // namespace

config::ModelDescription describe_model(const Model& model, std::int64_t num_classes, int batch,
                                        const config::ComputeMode& mode) {
  if (batch < 1) throw UsageError(fmt::format("a batch has at least one image, not {}", batch));
  if (num_classes < 1) throw UsageError(fmt::format("a classifier has at least one class, not {}", num_classes));
  auto activation = at::zeros(model.input_shape(1), model.input_type());
  config::ModelDescription description;
  description.model = model.name;
  description.batch = batch;
  description.input_shape = model.input_shape(batch);
  description.input_bytes = static_cast<std::int64_t>(activation.nbytes()) * batch;
  activation = compute::in_mode(activation, mode);
  compute::MultiplyAccumulateCounter counter;
  const auto plans = model.plan(num_classes);
  for (const auto& plan : plans) {
    const auto block = build_block(model.name, plan, std::nullopt, mode);
    activation = block.forward(std::move(activation));
    if (&plan == &plans.back()) activation = activation.to(at::kFloat);  // as results are
    description.blocks.push_back({.name = block.name,
                                  .output_shape = batched_shape(activation, batch),
                                  .activation_bytes = static_cast<std::int64_t>(activation.nbytes()) * batch,
                                  .parameters = block.parameters(),
                                  .parameter_bytes = block.parameter_bytes(),
                                  .multiply_accumulates = counter.take() * batch});
  }
  return description;
}

}  // namespace paretopipe::model
