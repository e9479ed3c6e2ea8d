#include <paretopipe/core/error.hpp>
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/training_part.hpp>

#include <fmt/format.h>

namespace paretopipe::stage {

std::vector<std::int64_t> Backend::make_labels(const ModelRequest& request, int) {
  if (request.labels.empty()) return {};
  throw UsageError(
      fmt::format("{} computes on no data that have labels; leave the labels {} out", request.model, request.labels));
}

std::unique_ptr<TrainingPart> Backend::make_training_part(const ModelRequest& request, experiment::BlockRange,
                                                          const experiment::Training&) {
  throw UsageError(fmt::format("{} cannot be trained by this stage program", request.model));
}

namespace {

const std::tuple kRequestFields{field("model", &ModelRequest::model),
                                field("num_classes", &ModelRequest::num_classes),
                                field("batch", &ModelRequest::batch),
                                field("seed", &ModelRequest::seed),
                                field("data", &ModelRequest::data),
                                field("weights", &ModelRequest::weights),
                                field("labels", &ModelRequest::labels),
                                field("archive", &ModelRequest::archive),
                                field("cut_positions", &ModelRequest::cut_positions, std::vector<int>{}),
                                field("first_batch", &ModelRequest::first_batch, 0),
                                field("shuffle", &ModelRequest::shuffle, std::uint64_t{0})};

}  // namespace

void to_json(nlohmann::json& json, const ModelRequest& request) {
  write_fields(json, request, kRequestFields);
  experiment::write_compute_mode(json, request.compute);
}

void from_json(const nlohmann::json& json, ModelRequest& request) {
  read_fields(json, request, kRequestFields);
  request.compute = experiment::read_compute_mode(json);
}

wire::TensorSpec activation_spec(const experiment::ComputeMode& mode, std::vector<std::int64_t> shape) {
  wire::TensorSpec spec;
  spec.dtype = mode.dtype == experiment::Precision::bfloat16 ? wire::DType::bfloat16 : wire::DType::float32;
  const bool by_pixel = mode.memory_format == experiment::MemoryFormat::channels_last && shape.size() == 4;
  spec.memory_format = by_pixel ? wire::MemoryFormat::channels_last : wire::MemoryFormat::contiguous;
  spec.shape = std::move(shape);
  return spec;
}

}  // namespace paretopipe::stage
