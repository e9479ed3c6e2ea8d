#include <paretopipe/config/model_description.hpp>
#include <paretopipe/core/json.hpp>

namespace paretopipe::config {

const std::vector<std::int64_t>& ModelDescription::shape_at(int split) const {
  return split == 0 ? input_shape : blocks.at(static_cast<std::size_t>(split - 1)).output_shape;
}

std::int64_t ModelDescription::bytes_at(int split) const {
  return split == 0 ? input_bytes : blocks.at(static_cast<std::size_t>(split - 1)).activation_bytes;
}

std::int64_t ModelDescription::parameter_bytes(BlockRange range) const {
  std::int64_t bytes = 0;
  for (int block = range.begin; block < range.end; ++block) {
    bytes += blocks.at(static_cast<std::size_t>(block)).parameter_bytes;
  }
  return bytes;
}

void to_json(nlohmann::json& json, const BlockRange& range) {
  json = {{"begin", range.begin}, {"end", range.end}};
}

void from_json(const nlohmann::json& json, BlockRange& range) {
  json.at("begin").get_to(range.begin);
  json.at("end").get_to(range.end);
}

void to_json(nlohmann::json& json, const ModelDescription& model) {
  json = {{"model", model.model},
          {"batch", model.batch},
          {"input_shape", model.input_shape},
          {"input_bytes", model.input_bytes},
          {"blocks", model.blocks}};
  write_optional(json, "archive", model.archive);
}

void from_json(const nlohmann::json& json, ModelDescription& model) {
  json.at("model").get_to(model.model);
  json.at("batch").get_to(model.batch);
  json.at("input_shape").get_to(model.input_shape);
  json.at("input_bytes").get_to(model.input_bytes);
  json.at("blocks").get_to(model.blocks);
  read_optional(json, "archive", model.archive);
}

}  // namespace paretopipe::config
