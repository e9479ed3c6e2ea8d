#pragma once
#include <paretopipe/analysis/predict/verification.hpp>
#include <paretopipe/render/table.hpp>

#include <span>
#include <string>

#include <nlohmann/json.hpp>

namespace paretopipe::render {

/// "PREDICTED, not measured: alexnet, batch 1, 2 stages, depth 4, network wifi"
std::string question_text(const predict::Prediction& prediction);

/// "3,7 uniform8", or "all local"
std::string split_text(const predict::PredictedSplit& split);

/// "0-2 on pi | 3-5 on server"
std::string placement_text(const predict::Prediction& prediction, const predict::PredictedSplit& split);

/// "stage 1", "link of stage 0", "depth"
std::string bottleneck_text(const predict::Bottleneck& bottleneck);

/// For a terminal: what was asked, that nothing of it was measured, and a table with a row for each split of the
/// frontier. A band is "21.3 ms (21.1 to 21.9)".
std::string render_text(const predict::Prediction& prediction, const TextStyle& style);

/// A heading with units in the names, and one row for each split, RFC 4180. The first column is "predicted" in every
/// row. Lists are separated by " | ".
std::string render_csv(const predict::Prediction& prediction);

/// {"predicted": true, "model", "batch", "stages", "depth", "network", "devices", "codecs", "frontier":
/// [{"split_points", "codec", "stages": [{"device", "begin", "end", "compute_ns", "coding_ns"}], "payload_bytes",
/// "latency_ns", "throughput_image_per_s", "bottleneck", "link_ns", "server_latency_mean_ns",
/// "server_latency_p99_ns"}], "rate_image_per_s", "fitted"}, where a band is {"low", "value", "high"}, without "high"
/// for a latency that may grow for ever.
std::string render_json(const predict::Prediction& prediction);

/// Predictions beside measurements, in the same three formats. The text has a row for each split, and says whether the
/// profiles hold: the median error is at most `tolerance`. The JSON is {"median_error", "worst_error", "in_band",
/// "tolerance", "holds", "splits"}.
std::string render_text(const predict::Verification& verification, double tolerance, const TextStyle& style);
std::string render_csv(const predict::Verification& verification);
std::string render_json(const predict::Verification& verification, double tolerance);

/// Predictions beside measurements as a part of another document: a table for each group, or "median_error",
/// "worst_error", "in_band" and "splits".
std::string render_text(std::span<const predict::VerifiedGroup> groups, const TextStyle& style);
nlohmann::json json_of(const predict::Verification& verification);

/// What the model of the pipeline missed most, such as "compute of stage 1 +3.10 ms": in latency, and at depth. Empty
/// where predictions fit.
std::string missed_text(const predict::VerifiedSplit& split);

}  // namespace paretopipe::render
