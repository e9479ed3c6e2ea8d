#include <paretopipe/core/units.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/render_prediction.hpp>
#include <paretopipe/render/table.hpp>

#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::render {

namespace {

using predict::Band;
using predict::Bottleneck;
using predict::PredictedSplit;
using predict::Prediction;
using predict::Verification;

/// "3,7 uniform8"
std::string split_text(const std::vector<int>& points, const std::string& codec) {
  return fmt::format("{}{}", fmt::join(points, ","), codec == codec::kNone ? "" : " " + codec);
}

const std::string& device_of(const Prediction& prediction, const predict::PlacedStage& stage) {
  return prediction.devices.at(static_cast<std::size_t>(stage.device));
}

}  // namespace

std::string split_text(const PredictedSplit& split) {
  return split.all_local() ? "all local" : split_text(split.split_points(), split.codec);
}

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
    case Bottleneck::Kind::cpus:
      return fmt::format("CPUs of stage {} and others", bottleneck.number);
    case Bottleneck::Kind::depth:
      break;
  }
  return "depth";
}

std::string question_text(const Prediction& prediction) {
  const auto network = prediction.network.empty() ? std::string("links as they were probed")
                                                  : fmt::format("network {}", prediction.network);
  const bool plain = prediction.codecs == std::vector<std::string>{codec::kNone};
  const auto codecs = plain ? "" : fmt::format(", codec {}", fmt::join(prediction.codecs, " or "));
  return fmt::format("PREDICTED, not measured: {}, batch {}, {} stages, depth {}, {}{}", prediction.model,
                     prediction.batch, prediction.stages, prediction.depth, network, codecs);
}

namespace {

std::string latency_text(const Band& band) {
  return fmt::format("{} ({} to {})", format_duration(band.value), format_duration(band.low),
                     format_duration(band.high));
}

std::string throughput_text(const Band& band) {
  return fmt::format("{:.4g} ({:.4g} to {:.4g})", band.value, band.low, band.high);
}

/// What was fitted; empty if nothing was.
std::string corrections_text(const predict::Corrections& fitted) {
  if (fitted.splits == 0) return "";
  return fmt::format(
      "Fitted to {} measured splits: stages take {:.3g} times the profiles' rounds alone and {:.3g} times at depth, a "
      "link adds {},\nand the slowest stage is held up by {:.1f} % of what the others compute. 95 % of splits are "
      "within {:.1f} % in latency\nand {:.1f} % in throughput.\n",
      fitted.splits, fitted.idle_pace, fitted.busy_pace, format_duration(fitted.hand_over_ns), 100 * fitted.contention,
      100 * fitted.latency_spread, 100 * fitted.throughput_spread);
}

std::string memory_text(const PredictedSplit& split) {
  const auto most = split.most_memory_bytes();
  return most ? format_bytes(static_cast<double>(*most)) : "unknown";
}

std::string payload_text(const PredictedSplit& split) {
  const auto& bytes = split.payload_bytes;
  return format_bytes(bytes.empty() ? 0 : std::accumulate(bytes.begin(), bytes.end() - 1, 0.0));
}

/// "41.0 ms, p99 90.1 ms". A split that batches in flight bound has no prediction, though it may keep up.
std::string server_text(const PredictedSplit& split, double rate_image_per_s) {
  if (!split.server) {
    return split.throughput_image_per_s.value > rate_image_per_s ? "unknown (bound by the depth)" : "not kept up with";
  }
  return fmt::format("{}, p99 {}", format_duration(split.server->mean_ns.value),
                     format_duration(split.server->p99_ns.value));
}

nlohmann::json json_of(const Band& band) {
  nlohmann::json json{{"low", band.low}, {"value", band.value}};
  if (std::isfinite(band.high)) json["high"] = band.high;
  return json;
}

nlohmann::json json_of(const Prediction& prediction, const PredictedSplit& split) {
  auto stages = nlohmann::json::array();
  for (std::size_t i = 0; i < split.stages.size(); ++i) {
    const auto& stage = split.stages[i];
    stages.push_back({{"device", device_of(prediction, stage)},
                      {"begin", stage.begin},
                      {"end", stage.end},
                      {"compute_ns", json_of(split.stage_ns[i])}});
    if (!split.coding_ns.empty()) stages.back()["coding_ns"] = json_of(split.coding_ns[i]);
    if (split.memory_bytes[i]) stages.back()["memory_bytes"] = *split.memory_bytes[i];
  }
  auto links = nlohmann::json::array();
  for (const auto& link : split.link_ns) links.push_back(json_of(link));
  nlohmann::json json{{"split_points", split.split_points()},
                      {"codec", split.codec},
                      {"stages", stages},
                      {"payload_bytes", split.payload_bytes},
                      {"latency_ns", json_of(split.latency_ns)},
                      {"throughput_image_per_s", json_of(split.throughput_image_per_s)},
                      {"bottleneck", bottleneck_text(split.bottleneck)},
                      {"link_ns", links}};
  if (split.server) {
    json["server_latency_mean_ns"] = json_of(split.server->mean_ns);
    json["server_latency_p99_ns"] = json_of(split.server->p99_ns);
  }
  return json;
}

nlohmann::json json_of(const predict::Corrections& fitted) {
  return {{"splits", fitted.splits},
          {"idle_pace", fitted.idle_pace},
          {"busy_pace", fitted.busy_pace},
          {"hand_over_ns", fitted.hand_over_ns},
          {"contention", fitted.contention},
          {"latency_spread", fitted.latency_spread},
          {"throughput_spread", fitted.throughput_spread}};
}

}  // namespace

std::string render_text(const Prediction& prediction, const TextStyle& style) {
  auto text = question_text(prediction) + "\n" + corrections_text(prediction.corrections);
  if (prediction.estimated_within > 0) {
    text += fmt::format(
        "The model is long, so only some runs of its blocks were timed. Of the others 95 % are estimated within {:.1f} "
        "%,\nas runs show that were held out.\n",
        100 * prediction.estimated_within);
  }
  text += "\n";
  if (prediction.frontier.empty()) {
    return text +
           "No split is possible: no device has the memory for what it would get, or none keeps what is asked.\n";
  }
  std::vector<Table::Column> columns{{"split"}, {"latency", Align::right}, {"image/s", Align::right}};
  if (prediction.rate_image_per_s) {
    columns.push_back({fmt::format("latency at {:g} image/s", *prediction.rate_image_per_s), Align::right});
  }
  for (const auto* right : {"payload", "memory"}) columns.push_back({right, Align::right});
  for (const auto* left : {"bound by", "blocks"}) columns.push_back({left});
  Table table(std::move(columns));
  for (const auto& split : prediction.frontier) {
    std::vector<std::string> cells{split_text(split), latency_text(split.latency_ns),
                                   throughput_text(split.throughput_image_per_s)};
    if (prediction.rate_image_per_s) cells.push_back(server_text(split, *prediction.rate_image_per_s));
    cells.insert(cells.end(), {payload_text(split), memory_text(split), bottleneck_text(split.bottleneck),
                               placement_text(prediction, split)});
    table.add_row(std::move(cells));
  }
  const auto* bands = prediction.corrections.splits > 0
                          ? "Bands are of the profiles' rounds and of the trials that were fitted"
                          : "Bands are of the profiles' rounds\nalone; --fit makes them honest";
  return text + table.to_text(style) +
         fmt::format(
             "\nNo other partition{} beats these, if the profiles hold. {}: measure what you choose with "
             "`paretopipe sweep`.\n",
             prediction.codecs.size() > 1 ? ", with any of these codecs," : "", bands);
}

std::string render_csv(const Prediction& prediction) {
  auto text = csv_line({"kind", "model", "batch", "network", "split", "blocks", "latency_p50_ns", "latency_p50_ns_low",
                        "latency_p50_ns_high", "throughput_image_per_s", "throughput_image_per_s_low",
                        "throughput_image_per_s_high", "bottleneck", "peak_memory_bytes", "server_latency_mean_ns",
                        "server_latency_p99_ns", "codec"});
  for (const auto& split : prediction.frontier) {
    const auto& latency = split.latency_ns;
    const auto& throughput = split.throughput_image_per_s;
    text += csv_line({"predicted", prediction.model, std::to_string(prediction.batch), prediction.network,
                      split.all_local() ? "all local" : split_text(split.split_points(), codec::kNone),
                      placement_text(prediction, split), record::format_number(latency.value),
                      record::format_number(latency.low), record::format_number(latency.high),
                      record::format_number(throughput.value), record::format_number(throughput.low),
                      record::format_number(throughput.high), bottleneck_text(split.bottleneck),
                      csv_cell(split.most_memory_bytes()),
                      split.server ? record::format_number(split.server->mean_ns.value) : "",
                      split.server ? record::format_number(split.server->p99_ns.value) : "", split.codec});
  }
  return text;
}

std::string render_json(const Prediction& prediction) {
  auto frontier = nlohmann::json::array();
  for (const auto& split : prediction.frontier) frontier.push_back(json_of(prediction, split));
  nlohmann::json json{{"predicted", true},           {"model", prediction.model}, {"batch", prediction.batch},
                      {"stages", prediction.stages}, {"depth", prediction.depth}, {"devices", prediction.devices},
                      {"codecs", prediction.codecs}, {"frontier", frontier}};
  if (!prediction.network.empty()) json["network"] = prediction.network;
  if (prediction.estimated_within > 0) json["estimated_within"] = prediction.estimated_within;
  if (prediction.rate_image_per_s) json["rate_image_per_s"] = *prediction.rate_image_per_s;
  if (prediction.corrections.splits > 0) json["fitted"] = json_of(prediction.corrections);
  return json_text(json);
}

namespace {

std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

std::string split_text(const predict::VerifiedSplit& split) {
  return split_text(split.cut.split_points, split.cut.codec);
}

/// Says which of the two numbers are within their bands.
std::string band_text(const predict::VerifiedSplit& split) {
  const bool latency = split.predicted.latency_ns.contains(split.latency_ns);
  const bool throughput = split.predicted.throughput_image_per_s.contains(split.throughput_image_per_s);
  return latency && throughput ? "both" : latency ? "latency" : throughput ? "image/s" : "none";
}

/// "compute of stage 1 +3.10 ms"
std::string part_text(const predict::PartTimes& part) {
  return fmt::format("{} {}{}", part.part, part.missed_ns() < 0 ? "-" : "+",
                     format_duration(std::abs(part.missed_ns())));
}

/// Differences below this share need no explanation.
constexpr double kWorthNaming = 0.02;

Table verification_table(const Verification& verification) {
  Table table({{"split"},
               {"latency predicted", Align::right},
               {"measured", Align::right},
               {"error", Align::right},
               {"image/s predicted", Align::right},
               {"measured", Align::right},
               {"error", Align::right},
               {"in its band"},
               {"missed most"}});
  for (const auto& split : verification.splits) {
    const auto& predicted = split.predicted;
    table.add_row({split_text(split), format_duration(predicted.latency_ns.value), format_duration(split.latency_ns),
                   signed_percent(split.latency_error()), fmt::format("{:.4g}", predicted.throughput_image_per_s.value),
                   fmt::format("{:.4g}", split.throughput_image_per_s), signed_percent(split.throughput_error()),
                   band_text(split), missed_text(split)});
  }
  return table;
}

}  // namespace

std::string missed_text(const predict::VerifiedSplit& split) {
  std::vector<std::string> parts;
  const auto* most = split.most_missed();
  if (most != nullptr && std::abs(split.latency_error()) > kWorthNaming) parts.push_back(part_text(*most));
  if (split.under_load && std::abs(split.throughput_error()) > kWorthNaming)
    parts.push_back(part_text(*split.under_load));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string render_text(std::span<const predict::VerifiedGroup> groups, const TextStyle& style) {
  std::string text;
  for (const auto& [question, verification] : groups) {
    text += fmt::format(
        "\nPredicted by the profile of {}, beside what was measured over {}: {:.1f} % off in the median, {:.1f} % at "
        "worst.\n\n{}",
        question.profiles.front().made_at, question.network ? question.network->name : "no network",
        100 * verification.median_error, 100 * verification.worst_error,
        verification_table(verification).to_text(style));
  }
  return text;
}

std::string render_text(const Verification& verification, double tolerance, const TextStyle& style) {
  const auto table = verification_table(verification);
  const auto found =
      fmt::format("The median error is {:.1f} %, the worst {:.1f} %; {:.0f} % of the numbers are in their bands",
                  100 * verification.median_error, 100 * verification.worst_error, 100 * verification.in_band);
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
                        "predicted_throughput_image_per_s", "measured_throughput_image_per_s", "throughput_error",
                        "latency_in_band", "throughput_in_band", "missed", "codec"});
  for (const auto& split : verification.splits) {
    text +=
        csv_line({split_text(split.cut.split_points, codec::kNone), std::to_string(split.repetitions),
                  record::format_number(split.predicted.latency_ns.value), record::format_number(split.latency_ns),
                  record::format_number(split.latency_error()),
                  record::format_number(split.predicted.throughput_image_per_s.value),
                  record::format_number(split.throughput_image_per_s), record::format_number(split.throughput_error()),
                  split.predicted.latency_ns.contains(split.latency_ns) ? "true" : "false",
                  split.predicted.throughput_image_per_s.contains(split.throughput_image_per_s) ? "true" : "false",
                  missed_text(split), split.cut.codec});
  }
  return text;
}

nlohmann::json json_of(const Verification& verification) {
  auto splits = nlohmann::json::array();
  for (const auto& split : verification.splits) {
    auto parts = nlohmann::json::array();
    for (const auto& part : split.latency_parts) {
      parts.push_back({{"part", part.part}, {"predicted_ns", part.predicted_ns}, {"measured_ns", part.measured_ns}});
    }
    splits.push_back(
        {{"split_points", split.cut.split_points},
         {"codec", split.cut.codec},
         {"repetitions", split.repetitions},
         {"predicted",
          {{"latency_ns", json_of(split.predicted.latency_ns)},
           {"throughput_image_per_s", json_of(split.predicted.throughput_image_per_s)}}},
         {"measured", {{"latency_ns", split.latency_ns}, {"throughput_image_per_s", split.throughput_image_per_s}}},
         {"latency_error", split.latency_error()},
         {"throughput_error", split.throughput_error()},
         {"latency_parts", parts},
         {"missed", missed_text(split)}});
  }
  return {{"median_error", verification.median_error},
          {"worst_error", verification.worst_error},
          {"in_band", verification.in_band},
          {"splits", splits}};
}

std::string render_json(const Verification& verification, double tolerance) {
  auto json = json_of(verification);
  json["tolerance"] = tolerance;
  json["holds"] = verification.median_error <= tolerance;
  return json_text(json);
}

}  // namespace paretopipe::render
