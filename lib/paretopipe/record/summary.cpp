// The JSON of what is derived from samples, and of the samples of training.
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/record/summary.hpp>

#include <numeric>

namespace paretopipe::record {

double StepParts::all_ns() const {
  return std::accumulate(kStepParts.begin(), kStepParts.end(), 0.0,
                         [this](double sum, auto part) { return sum + this->*part; });
}

void to_json(nlohmann::json& json, const Summary& summary) {
  json = nlohmann::json::object();
  if (summary.latency) {
    json["latency"] = *summary.latency;
    json["breakdown"] = summary.breakdown;
    json["links"] = summary.links;
  }
  if (summary.throughput_image_per_s) {
    json["throughput_image_per_s"] = *summary.throughput_image_per_s;
    json["stages"] = summary.stages;
  }
  write_optional(json, "latency_under_load", summary.latency_under_load);
  write_optional(json, "training", summary.training);
}

void from_json(const nlohmann::json& json, Summary& summary) {
  summary = {};
  read_optional(json, "latency", summary.latency);
  read_optional(json, "throughput_image_per_s", summary.throughput_image_per_s);
  read_optional(json, "latency_under_load", summary.latency_under_load);
  read_optional(json, "training", summary.training);
  if (summary.latency) {
    json.at("breakdown").get_to(summary.breakdown);
    json.at("links").get_to(summary.links);
  }
  if (summary.throughput_image_per_s) json.at("stages").get_to(summary.stages);
}

}  // namespace paretopipe::record
