#include <paretopipe/diagnosis/render.hpp>
#include <paretopipe/diagnosis/sentences.hpp>
#include <paretopipe/report/format.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paretopipe::diagnosis {
namespace {

using Json = nlohmann::ordered_json;

/// Grows when a field changes its meaning.
constexpr int kSchema = 1;

void append(Json& json, const Busy& busy) {
  json["busy_mean_ns"] = busy.mean_ns;
  json["busy_p90_ns"] = busy.p90_ns;
}

Json place(const Constraint& constraint) {
  Json json{{"kind", to_string(constraint.kind)}};
  if (constraint.kind != Kind::source && constraint.kind != Kind::depth) json["stage"] = constraint.stage;
  return json;
}

Json constraints(const ConfigurationDiagnosis& one) {
  Json list = Json::array();
  for (const auto& constraint : one.bounds) {
    auto json = place(constraint);
    json["period_ns"] = constraint.period_ns;
    if (constraint.period_ns > 0) {
      json["bound_image_per_s"] = throughput_at(*one.demands, constraint.period_ns);
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json stages(const Demands& demands) {
  Json list = Json::array();
  for (const auto& stage : demands.stages) {
    Json json;
    append(json, stage.busy);
    json["utilisation"] = stage.utilisation;
    json["compute_p50_ns"] = stage.compute_p50_ns;
    json["idle_compute_p50_ns"] = stage.idle_compute_ns;
    list.push_back(std::move(json));
  }
  return list;
}

Json links(const Demands& demands) {
  Json list = Json::array();
  for (const auto& link : demands.links) {
    Json json{{"from", link.from},
              {"to", link.to},
              {"payload_bytes", link.payload_bytes},
              {"header_bytes", link.header_bytes}};
    append(json, link.busy);
    json["delay_ns"] = link.delay_ns;
    if (link.rate_bit_per_s) json["rate_bit_per_s"] = *link.rate_bit_per_s;
    list.push_back(std::move(json));
  }
  return list;
}

void append(Json& json, const ConfigurationDiagnosis& one) {
  const auto& demands = *one.demands;
  json["throughput_image_per_s"] = demands.throughput_image_per_s;
  if (const auto sequential = demands.sequential_image_per_s()) {
    json["sequential_image_per_s"] = *sequential;
    json["speed_up_sequential"] = demands.throughput_image_per_s / *sequential;
  }
  json["period_ns"] = demands.period_ns();
  json["bottleneck"] = place(one.bounds.front());
  json["bottleneck"]["repetitions_agreeing"] = one.agreeing;
  json["reached"] = reached(demands);
  json["in_flight"] = demands.in_flight;
  if (const auto depth = sufficient_depth(demands)) json["sufficient_depth"] = *depth;
  json["unqueued_ns"] = demands.unqueued_ns();
  if (demands.source_ns) json["source_ns"] = *demands.source_ns;
  json["constraints"] = constraints(one);
  json["stages"] = stages(demands);
  json["links"] = links(demands);
}

Json to_json(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  Json json{{"split_points", one.trial().split_points}, {"label", report::split_label(one.trial())}};
  const auto& configuration = one.configuration;
  json["repetitions_ok"] = configuration.ok.size();
  json["repetitions_failed"] = configuration.failed.size();
  json["repetitions_invalid"] = configuration.invalid.size();
  if (one.demands) append(json, one);
  if (const auto* single = group.all_local(); single != nullptr && one.demands) {
    json["speed_up_single"] = one.demands->throughput_image_per_s / single->demands->throughput_image_per_s;
  }
  if (const auto* baseline = group.data_parallel(); baseline != nullptr && one.demands) {
    json["speed_up_data_parallel"] =
        one.demands->throughput_image_per_s / *baseline->configuration.median(record::find_metric("throughput"));
  }
  if (!one.reasons.empty()) json["reasons"] = one.reasons;
  if (!one.disturbances.empty()) json["disturbances"] = one.disturbances;
  json["sentences"] = Json{headline(group, one)};
  for (auto& sentence : remarks(group, one)) json["sentences"].push_back(std::move(sentence));
  return json;
}

Json to_json(const GroupDiagnosis& group) {
  auto settings = report::flat_settings(group.settings());
  settings["model"] = group.settings().model;
  Json json{{"settings", std::move(settings)}};
  if (group.all_wanted()) json["conclusion"] = conclusion(group);
  json["configurations"] = Json::array();
  for (const auto& one : group.configurations) {
    if (one.wanted) json["configurations"].push_back(to_json(group, one));
  }
  return json;
}

}  // namespace

std::string render_json(std::span<const GroupDiagnosis> groups) {
  Json json{{"schema", kSchema}, {"groups", Json::array()}};
  for (const auto& group : groups) json["groups"].push_back(to_json(group));
  // File names need not be UTF-8, but JSON must be.
  return fmt::format("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace paretopipe::diagnosis
