#pragma once
#include <string>

#include <nlohmann/json.hpp>

namespace paretopipe::config {

/// Which phases a trial has, named after MLPerf's scenarios: single_stream measures latency with one batch in flight,
/// and offline measures throughput with `depth` batches in flight. A Server phase may follow (ServerLoad).
enum class Phases { both, single_stream, offline };

inline bool has_single_stream(Phases phases) {
  return phases != Phases::offline;
}
inline bool has_offline(Phases phases) {
  return phases != Phases::single_stream;
}
inline int count(Phases phases) {
  return phases == Phases::both ? 2 : 1;
}

/// "both", "single-stream", "offline"
std::string to_string(Phases phases);

/// Parses these names. Throws UsageError that lists them.
Phases parse_phases(const std::string& text);

/// "single-stream only", "offline only", or empty for both. For people.
std::string describe(Phases phases);

void to_json(nlohmann::json& json, Phases phases);
/// Throws as parse_phases() does.
void from_json(const nlohmann::json& json, Phases& phases);

}  // namespace paretopipe::config
