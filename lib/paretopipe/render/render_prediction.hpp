#pragma once
#include <paretopipe/analysis/predict/verification.hpp>
#include <paretopipe/render/table.hpp>

#include <string>

namespace paretopipe::render {

/// For a terminal: what was asked, that nothing of it was measured, and a table with a row for each split of the
/// frontier. A band is "21.3 ms (21.1 to 21.9)".
std::string render_text(const predict::Prediction& prediction, const TextStyle& style);

/// A heading with units in the names, and one row for each split, RFC 4180. The first column is "predicted" in every
/// row. Lists are separated by " | ".
std::string render_csv(const predict::Prediction& prediction);

/// {"predicted": true, "model", "batch", "stages", "depth", "network", "devices", "frontier": [{"split_points",
/// "stages": [{"device", "begin", "end", "compute_ns"}], "payload_bytes", "latency_ns", "throughput_image_per_s",
/// "bottleneck"}]}, where a band is {"low", "value", "high"}.
std::string render_json(const predict::Prediction& prediction);

/// The same three of predictions beside measurements. As text: a row for each split, and whether the profiles hold,
/// which is a median error of at most `tolerance`. The JSON is {"median_error", "worst_error", "tolerance", "holds",
/// "splits"}.
std::string render_text(const predict::Verification& verification, double tolerance, const TextStyle& style);
std::string render_csv(const predict::Verification& verification);
std::string render_json(const predict::Verification& verification, double tolerance);

}  // namespace paretopipe::render
