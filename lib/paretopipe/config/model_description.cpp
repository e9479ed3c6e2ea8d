#include <paretopipe/config/model_description.hpp>

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

}  // namespace paretopipe::config
