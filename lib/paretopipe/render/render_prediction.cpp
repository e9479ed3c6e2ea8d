#include <paretopipe/core/units.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/render_prediction.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::render {

namespace {

using predict::Band;
using predict::Bottleneck;
using predict::PredictedSplit;
using predict::Prediction;
using predict::Verification;

std::string split_text(const PredictedSplit& split) {
  if (split.all_local()) return "all local";
  return fmt::format("{}", fmt::join(split.split_points(), ","));
}

const std::string& device_of(const Prediction& prediction, const predict::PlacedStage& stage) {
  return prediction.devices.at(static_cast<std::size_t>(stage.device));
}

/// "0-2 on pi | 3-5 on server"
std::string placement_text(const Prediction& prediction, const PredictedSplit& split) {
  std::vector<std::string> parts;
  for (const auto& stage : split.stages) {
    const auto blocks = stage.begin == stage.end ? "none" : fmt::format("{}-{}", stage.begin, stage.end - 1);
    parts.push_back(fmt::format("{} on {}", blocks, device_of(prediction, stage)));
  }
  return fmt::format("{}", fmt::join(parts, " | "));
}

std::string bottleneck_text(const Bottleneck& bottleneck) {
  switch (bottleneck.kind) {
    case Bottleneck::Kind::stage:
      return fmt::format("stage {}", bottleneck.number);
    case Bottleneck::Kind::link:
      return fmt::format("link of stage {}", bottleneck.number);
    case Bottleneck::Kind::depth:
      break;
  }
  return "depth";
}

std::string latency_text(const Band& band) {
  return fmt::format("{} ({} to {})", format_duration(band.value), format_duration(band.low),
                     format_duration(band.high));
}

std::string throughput_text(const Band& band) {
  return fmt::format("{:.4g} ({:.4g} to {:.4g})", band.value, band.low, band.high);
}

std::string question_text(const Prediction& prediction) {
  const auto network = prediction.network.empty() ? std::string("links as they were probed")
                                                  : fmt::format("network {}", prediction.network);
  return fmt::format("PREDICTED, not measured: {}, batch {}, {} stages, depth {}, {}", prediction.model,
                     prediction.batch, prediction.stages, prediction.depth, network);
}

nlohmann::json json_of(const Band& band) {
  return {{"low", band.low}, {"value", band.value}, {"high", band.high}};
}

nlohmann::json json_of(const Prediction& prediction, const PredictedSplit& split) {
  auto stages = nlohmann::json::array();
  for (std::size_t i = 0; i < split.stages.size(); ++i) {
    const auto& stage = split.stages[i];
    stages.push_back({{"device", device_of(prediction, stage)},
                      {"begin", stage.begin},
                      {"end", stage.end},
                      {"compute_ns", json_of(split.stage_ns[i])}});
  }
  return {{"split_points", split.split_points()},
          {"stages", stages},
          {"payload_bytes", split.payload_bytes},
          {"latency_ns", json_of(split.latency_ns)},
          {"throughput_image_per_s", json_of(split.throughput_image_per_s)},
          {"bottleneck", bottleneck_text(split.bottleneck)}};
}

}  // namespace

std::string render_text(const Prediction& prediction, const TextStyle& style) {
  auto text = question_text(prediction) + "\n\n";
  if (prediction.frontier.empty())
    return text + "No split is possible: no device has the memory for what it would get.\n";
  Table table({{"split", Align::left},
               {"latency", Align::right},
               {"image/s", Align::right},
               {"bound by", Align::left},
               {"blocks", Align::left}});
  for (const auto& split : prediction.frontier) {
    table.add_row({split_text(split), latency_text(split.latency_ns), throughput_text(split.throughput_image_per_s),
                   bottleneck_text(split.bottleneck), placement_text(prediction, split)});
  }
  return text + table.to_text(style) +
         "\nNo other partition beats these in latency and throughput, if the profiles hold. Bands are of the profiles' "
         "rounds\nalone: measure what you choose with `paretopipe sweep`.\n";
}

std::string render_csv(const Prediction& prediction) {
  auto text = csv_line({"kind", "model", "batch", "network", "split", "blocks", "latency_ns", "latency_ns_low",
                        "latency_ns_high", "throughput_image_per_s", "throughput_image_per_s_low",
                        "throughput_image_per_s_high", "bottleneck"});
  for (const auto& split : prediction.frontier) {
    const auto& latency = split.latency_ns;
    const auto& throughput = split.throughput_image_per_s;
    text += csv_line({"predicted", prediction.model, std::to_string(prediction.batch), prediction.network,
                      split_text(split), placement_text(prediction, split), record::format_number(latency.value),
                      record::format_number(latency.low), record::format_number(latency.high),
                      record::format_number(throughput.value), record::format_number(throughput.low),
                      record::format_number(throughput.high), bottleneck_text(split.bottleneck)});
  }
  return text;
}

std::string render_json(const Prediction& prediction) {
  auto frontier = nlohmann::json::array();
  for (const auto& split : prediction.frontier) frontier.push_back(json_of(prediction, split));
  nlohmann::json json{{"predicted", true},           {"model", prediction.model}, {"batch", prediction.batch},
                      {"stages", prediction.stages}, {"depth", prediction.depth}, {"devices", prediction.devices},
                      {"frontier", frontier}};
  if (!prediction.network.empty()) json["network"] = prediction.network;
  return json.dump(2) + "\n";
}

namespace {

std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

std::string split_text(const predict::VerifiedSplit& split) {
  return fmt::format("{}", fmt::join(split.split_points, ","));
}

}  // namespace

std::string render_text(const Verification& verification, double tolerance, const TextStyle& style) {
  Table table({{"split", Align::left},
               {"latency predicted", Align::right},
               {"measured", Align::right},
               {"error", Align::right},
               {"image/s predicted", Align::right},
               {"measured", Align::right},
               {"error", Align::right}});
  for (const auto& split : verification.splits) {
    const auto& predicted = split.predicted;
    table.add_row({split_text(split), format_duration(predicted.latency_ns.value), format_duration(split.latency_ns),
                   signed_percent(split.latency_error()), fmt::format("{:.4g}", predicted.throughput_image_per_s.value),
                   fmt::format("{:.4g}", split.throughput_image_per_s), signed_percent(split.throughput_error())});
  }
  const auto found = fmt::format("The median error is {:.1f} %, the worst {:.1f} %", 100 * verification.median_error,
                                 100 * verification.worst_error);
  if (verification.median_error <= tolerance) {
    return fmt::format("{}\n{}: the profiles hold within {:g} %.\n", table.to_text(style), found, 100 * tolerance);
  }
  return fmt::format(
      "{}\n{}, more than {:g} %: the profiles do not hold. They are of other devices, or something has\nchanged since: "
      "make them again with `paretopipe profile`, and believe no prediction from these.\n",
      table.to_text(style), found, 100 * tolerance);
}

std::string render_csv(const Verification& verification) {
  auto text = csv_line({"split", "repetitions", "predicted_latency_ns", "measured_latency_ns", "latency_error",
                        "predicted_throughput_image_per_s", "measured_throughput_image_per_s", "throughput_error"});
  for (const auto& split : verification.splits) {
    text += csv_line(
        {split_text(split), std::to_string(split.repetitions), record::format_number(split.predicted.latency_ns.value),
         record::format_number(split.latency_ns), record::format_number(split.latency_error()),
         record::format_number(split.predicted.throughput_image_per_s.value),
         record::format_number(split.throughput_image_per_s), record::format_number(split.throughput_error())});
  }
  return text;
}

std::string render_json(const Verification& verification, double tolerance) {
  auto splits = nlohmann::json::array();
  for (const auto& split : verification.splits) {
    splits.push_back(
        {{"split_points", split.split_points},
         {"repetitions", split.repetitions},
         {"predicted",
          {{"latency_ns", json_of(split.predicted.latency_ns)},
           {"throughput_image_per_s", json_of(split.predicted.throughput_image_per_s)}}},
         {"measured", {{"latency_ns", split.latency_ns}, {"throughput_image_per_s", split.throughput_image_per_s}}},
         {"latency_error", split.latency_error()},
         {"throughput_error", split.throughput_error()}});
  }
  const nlohmann::json json{{"median_error", verification.median_error},
                            {"worst_error", verification.worst_error},
                            {"tolerance", tolerance},
                            {"holds", verification.median_error <= tolerance},
                            {"splits", splits}};
  return json.dump(2) + "\n";
}

}  // namespace paretopipe::render
