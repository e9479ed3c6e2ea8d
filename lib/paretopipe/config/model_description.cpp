#include <paretopipe/config/model_description.hpp>
#include <paretopipe/core/json.hpp>

namespace paretopipe::config {

const std::vector<std::int64_t>& ModelDescription::shape_at(int split) const {
  return split == 0 ? input_shape : blocks.at(static_cast<std::size_t>(split - 1)).output_shape;
}

std::vector<std::vector<std::int64_t>> ModelDescription::shapes_at(int split) const {
  std::vector<std::vector<std::int64_t>> shapes{shape_at(split)};
  if (split == 0) return shapes;
  const auto& others = blocks.at(static_cast<std::size_t>(split - 1)).other_shapes;
  shapes.insert(shapes.end(), others.begin(), others.end());
  return shapes;
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

void to_json(nlohmann::json& json, const BlockDescription& block) {
  json = {{"name", block.name},
          {"output_shape", block.output_shape},
          {"activation_bytes", block.activation_bytes},
          {"parameters", block.parameters},
          {"parameter_bytes", block.parameter_bytes},
          {"multiply_accumulates", block.multiply_accumulates}};
  if (!block.other_shapes.empty()) json["other_shapes"] = block.other_shapes;
}

void from_json(const nlohmann::json& json, BlockDescription& block) {
  json.at("name").get_to(block.name);
  json.at("output_shape").get_to(block.output_shape);
  json.at("activation_bytes").get_to(block.activation_bytes);
  json.at("parameters").get_to(block.parameters);
  json.at("parameter_bytes").get_to(block.parameter_bytes);
  json.at("multiply_accumulates").get_to(block.multiply_accumulates);
  block.other_shapes = json.value("other_shapes", decltype(block.other_shapes){});
}

void to_json(nlohmann::json& json, const ModelDescription& model) {
  json = {{"model", model.model},
          {"batch", model.batch},
          {"input_shape", model.input_shape},
          {"input_bytes", model.input_bytes},
          {"blocks", model.blocks}};
  write_optional(json, "archive", model.archive);
  if (!model.cut_positions.empty()) json["cut_positions"] = model.cut_positions;
}

void from_json(const nlohmann::json& json, ModelDescription& model) {
  json.at("model").get_to(model.model);
  json.at("batch").get_to(model.batch);
  json.at("input_shape").get_to(model.input_shape);
  json.at("input_bytes").get_to(model.input_bytes);
  json.at("blocks").get_to(model.blocks);
  read_optional(json, "archive", model.archive);
  model.cut_positions = json.value("cut_positions", std::vector<int>{});
}

}  // namespace paretopipe::config
