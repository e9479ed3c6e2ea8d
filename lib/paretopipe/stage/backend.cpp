#include <paretopipe/core/error.hpp>
#include <paretopipe/core/json.hpp>
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
  throw UsageError(fmt::format("{} cannot be trained: only built-in and synthetic models can", request.model));
}

void to_json(nlohmann::json& json, const ModelRequest& request) {
  json = {
      {"model", request.model}, {"num_classes", request.num_classes}, {"batch", request.batch},  {"seed", request.seed},
      {"data", request.data},   {"weights", request.weights},         {"labels", request.labels}};
  write_optional(json, "archive", request.archive);
  if (!request.cut_positions.empty()) json["cut_positions"] = request.cut_positions;
  if (request.first_batch != 0) json["first_batch"] = request.first_batch;
  if (request.shuffle != 0) json["shuffle"] = request.shuffle;
  experiment::write_compute_mode(json, request.compute);
}

void from_json(const nlohmann::json& json, ModelRequest& request) {
  json.at("model").get_to(request.model);
  json.at("num_classes").get_to(request.num_classes);
  json.at("batch").get_to(request.batch);
  json.at("seed").get_to(request.seed);
  json.at("data").get_to(request.data);
  json.at("weights").get_to(request.weights);
  json.at("labels").get_to(request.labels);
  read_optional(json, "archive", request.archive);
  request.cut_positions = json.value("cut_positions", std::vector<int>{});
  request.first_batch = json.value("first_batch", 0);
  request.shuffle = json.value("shuffle", std::uint64_t{0});
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
