#include <paretopipe/core/json.hpp>
#include <paretopipe/record/summary.hpp>

namespace paretopipe::record {

void to_json(nlohmann::json& json, const MaxRate& max_rate) {
  json = nlohmann::json::object();
  write_optional(json, "kept_image_per_s", max_rate.kept_image_per_s);
  write_optional(json, "missed_image_per_s", max_rate.missed_image_per_s);
}

void from_json(const nlohmann::json& json, MaxRate& max_rate) {
  read_optional(json, "kept_image_per_s", max_rate.kept_image_per_s);
  read_optional(json, "missed_image_per_s", max_rate.missed_image_per_s);
}

void to_json(nlohmann::json& json, const ServerRecord& server) {
  json = {{"runs", server.runs}};
  write_optional(json, "max_rate", server.max_rate);
}

void from_json(const nlohmann::json& json, ServerRecord& server) {
  json.at("runs").get_to(server.runs);
  read_optional(json, "max_rate", server.max_rate);
}

}  // namespace paretopipe::record
