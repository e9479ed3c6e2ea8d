// The JSON of what is derived from samples, and of the samples of training.
#include <paretopipe/core/json.hpp>
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/record/summary.hpp>

#include <numeric>

namespace paretopipe::record {

const std::tuple kMaxRateFields{field("kept_image_per_s", &MaxRate::kept_image_per_s),
                                field("missed_image_per_s", &MaxRate::missed_image_per_s)};

void to_json(nlohmann::json& json, const MaxRate& max_rate) {
  write_fields(json, max_rate, kMaxRateFields);
}

void from_json(const nlohmann::json& json, MaxRate& max_rate) {
  read_fields(json, max_rate, kMaxRateFields);
}

/// What a codec adds came later than the rest, and is left out where there is none.
const std::tuple kStepPartsFields{field("forward_ns", &StepParts::forward_ns),
                                  field("backward_ns", &StepParts::backward_ns),
                                  field("encode_ns", &StepParts::encode_ns, 0.0),
                                  field("update_ns", &StepParts::update_ns),
                                  field("all_reduce_ns", &StepParts::all_reduce_ns, 0.0),
                                  field("transfer_ns", &StepParts::transfer_ns),
                                  field("decode_ns", &StepParts::decode_ns, 0.0),
                                  field("waiting_ns", &StepParts::waiting_ns)};

double StepParts::all_ns() const {
  return std::accumulate(kStepParts.begin(), kStepParts.end(), 0.0,
                         [this](double sum, auto part) { return sum + this->*part; });
}

void to_json(nlohmann::json& json, const StepParts& parts) {
  write_fields(json, parts, kStepPartsFields);
}

void from_json(const nlohmann::json& json, StepParts& parts) {
  read_fields(json, parts, kStepPartsFields);
}

const std::tuple kTrainingSummaryFields{field("step", &TrainingSummary::step),
                                        field("step_error_ns", &TrainingSummary::step_error_ns, 0.0),
                                        field("sample_per_s", &TrainingSummary::sample_per_s),
                                        field("stages", &TrainingSummary::stages),
                                        field("bubble", &TrainingSummary::bubble),
                                        field("expected_bubble", &TrainingSummary::expected_bubble),
                                        field("bound_sample_per_s", &TrainingSummary::bound_sample_per_s),
                                        field("last_loss", &TrainingSummary::last_loss),
                                        field("uncompressed_loss", &TrainingSummary::uncompressed_loss)};

void to_json(nlohmann::json& json, const TrainingSummary& summary) {
  write_fields(json, summary, kTrainingSummaryFields);
}

void from_json(const nlohmann::json& json, TrainingSummary& summary) {
  read_fields(json, summary, kTrainingSummaryFields);
}

const std::tuple kTrainingSamplesFields{field("warmup", &TrainingSamples::warmup),
                                        field("micro_batches", &TrainingSamples::micro_batches),
                                        field("stages", &TrainingSamples::stages),
                                        field("losses", &TrainingSamples::losses),
                                        field("verified_steps", &TrainingSamples::verified_steps),
                                        field("lossy", &TrainingSamples::lossy),
                                        field("loss_tolerance", &TrainingSamples::loss_tolerance, 0.0),
                                        field("reduced_bytes", &TrainingSamples::reduced_bytes, std::int64_t{0})};

void to_json(nlohmann::json& json, const TrainingSamples& samples) {
  write_fields(json, samples, kTrainingSamplesFields);
}

void from_json(const nlohmann::json& json, TrainingSamples& samples) {
  read_fields(json, samples, kTrainingSamplesFields);
}

const std::tuple kServerRecordFields{field("runs", &ServerRecord::runs), field("max_rate", &ServerRecord::max_rate)};

void to_json(nlohmann::json& json, const ServerRecord& server) {
  write_fields(json, server, kServerRecordFields);
}

void from_json(const nlohmann::json& json, ServerRecord& server) {
  read_fields(json, server, kServerRecordFields);
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
