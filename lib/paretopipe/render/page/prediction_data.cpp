#include <paretopipe/core/version.hpp>
#include <paretopipe/render/page/page.hpp>
#include <paretopipe/render/render_prediction.hpp>

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "page_parts.hpp"

namespace paretopipe::page {

namespace {

using predict::Band;
using predict::PredictedSplit;

Json data_of(const Band& band) {
  return Json::array({band.value, band.low, band.high});
}

double sum_of(const std::vector<Band>& bands) {
  return std::accumulate(bands.begin(), bands.end(), 0.0,
                         [](double sum, const Band& band) { return sum + band.value; });
}

/// By the names of record::metrics().
Json metrics_of(const PredictedSplit& split) {
  // The last one sends results back.
  const auto forward = split.payload_bytes.empty() ? split.payload_bytes.end() : split.payload_bytes.end() - 1;
  Json metrics{{"latency_p50", data_of(split.latency_ns)},
               {"throughput", data_of(split.throughput_image_per_s)},
               {"compute", Json::array({sum_of(split.stage_ns)})},
               {"transfer", Json::array({sum_of(split.link_ns)})},
               {"payload", Json::array({std::accumulate(split.payload_bytes.begin(), forward, std::int64_t{0})})}};
  if (!split.coding_ns.empty()) metrics["codec"] = Json::array({sum_of(split.coding_ns)});
  if (const auto most = split.most_memory_bytes()) metrics["peak_memory"] = Json::array({*most});
  if (split.server) {
    metrics["server_latency_mean"] = data_of(split.server->mean_ns);
    metrics["server_latency_p99"] = data_of(split.server->p99_ns);
  }
  return metrics;
}

Json breakdown_of(const PredictedSplit& split) {
  auto parts = Json::array();
  const auto add = [&](const char* part, std::size_t stage, const Band& band) {
    if (band.value > 0) parts.push_back({{"part", part}, {"stage", stage}, {"ns", band.value}});
  };
  for (std::size_t stage = 0; stage < split.stages.size(); ++stage) {
    add("compute", stage, split.stage_ns[stage]);
    if (!split.coding_ns.empty()) add("encode", stage, split.coding_ns[stage]);  // and decode
    if (!split.link_ns.empty()) add("transfer", (stage + 1) % split.link_ns.size(), split.link_ns[stage]);
  }
  return parts;
}

Json utilisation_of(const PredictedSplit& split, int batch) {
  const double period_ns = 1e9 * batch / split.throughput_image_per_s.value;
  auto shares = Json::array();
  for (std::size_t stage = 0; stage < split.stages.size(); ++stage) {
    const double coding_ns = split.coding_ns.empty() ? 0 : split.coding_ns[stage].value;
    shares.push_back(std::min(1.0, (split.stage_ns[stage].value + coding_ns) / period_ns));
  }
  return shares;
}

Json split_data(const predict::Prediction& prediction, const PredictedSplit& split) {
  return {{"split", split.all_local() ? "local" : render::split_text(split)},
          {"label", fmt::format("{}: {}", render::split_text(split), render::placement_text(prediction, split))},
          {"ok", 0},
          {"failed", 0},
          {"invalid", 0},
          {"on_frontier", true},
          {"reasons", Json::array()},
          {"metrics", metrics_of(split)},
          {"baseline", false},
          {"breakdown", breakdown_of(split)},
          {"utilisation", utilisation_of(split, prediction.batch)},
          {"bound_by", render::bottleneck_text(split.bottleneck)}};
}

/// What crosses the cuts of these splits without a codec.
Json activations_of(const predict::Prediction& prediction) {
  std::map<int, std::int64_t> bytes_at;
  for (const auto& split : prediction.frontier) {
    if (split.codec != codec::kNone) continue;
    const auto points = split.split_points();
    for (std::size_t cut = 0; cut < points.size() && cut < split.payload_bytes.size(); ++cut) {
      bytes_at[points[cut]] = split.payload_bytes[cut];
    }
  }
  auto activations = Json::array();
  for (const auto& [point, bytes] : bytes_at) activations.push_back(Json::array({point, bytes}));
  return activations;
}

Json profiles_data(std::span<const predict::Profile> profiles) {
  auto texts = Json::array();
  for (const auto& profile : profiles) {
    std::vector<std::string> devices;
    for (const auto& device : profile.devices) {
      devices.push_back(fmt::format("{} ({}, CPUs {})", device.name, device.host.cpu_model, device.cpus));
    }
    texts.push_back(fmt::format("{} by paretopipe {}: {}", profile.made_at, profile.release, fmt::join(devices, ", ")));
  }
  return texts;
}

}  // namespace

nlohmann::ordered_json make_page_data(const predict::Prediction& prediction,
                                      std::span<const predict::Profile> profiles) {
  auto splits = Json::array();
  for (const auto& split : prediction.frontier) splits.push_back(split_data(prediction, split));
  const auto network = prediction.network.empty() ? std::string("as probed") : prediction.network;
  const Json group{{"title", prediction.model},
                   {"model", prediction.model},
                   {"batch", prediction.batch},
                   {"micro_batch", prediction.batch},
                   {"depth", prediction.depth},
                   {"threads_per_stage", 0},
                   {"load", "none"},
                   {"network", network},
                   {"conditions", network},
                   {"evidence", Json::object()},
                   {"settings", Json::array()},
                   {"repetitions", 0},
                   {"coverage_bound", 0},
                   {"splits", std::move(splits)},
                   {"activations", activations_of(prediction)},
                   {"headline", render::question_text(prediction) + ". Measure what you choose."}};
  return {{"predicted", true},
          {"metrics", metrics_data()},
          {"objectives", Json::array({"latency_p50", "throughput"})},
          {"groups", Json::array({group})},
          {"families", Json::array()},
          {"loads", Json::array()},
          {"stages", Json::array()},
          {"provenance",
           {{"versions", Json::array({fmt::format("{} ({})", version(), git_state())})},
            {"commands", Json::array()},
            {"profiles", profiles_data(profiles)}}}};
}

}  // namespace paretopipe::page
