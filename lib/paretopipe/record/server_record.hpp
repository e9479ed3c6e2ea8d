#pragma once
#include <paretopipe/core/server_timeline.hpp>
#include <paretopipe/record/summary.hpp>

#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::record {

/// The measurements of a Server phase at one rate, derived from its moments.
struct ServerSummary {
  Distribution latency;             ///< completed − scheduled
  double offered_image_per_s = 0;   ///< by the random schedule of the measured queries
  double achieved_image_per_s = 0;  ///< by the same queries, between the first and the last completion
  bool saturated = false;           ///< the pipeline did not keep up: its latency grows with the length of the phase
  double source_wait_mean_ns = 0;   ///< part of the latency: waiting at the source while `depth` batches are in flight

  bool operator==(const ServerSummary&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerSummary, latency, offered_image_per_s, achieved_image_per_s, saturated,
                                   source_wait_mean_ns)

/// A Server phase at one rate. Moments are in nanoseconds since the beginning of its schedule.
struct ServerRun {
  double rate_image_per_s = 0;  ///< as requested
  int warmup = 0;               ///< batches at the beginning that enter no statistic
  ServerTimeline moments;
  ServerSummary summary;

  bool operator==(const ServerRun&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerRun, rate_image_per_s, warmup, moments, summary)

/// The result of a search for the highest rate, which lies between these two.
struct MaxRate {
  std::optional<double> kept_image_per_s;    ///< highest rate that kept the bound; absent if none did
  std::optional<double> missed_image_per_s;  ///< lowest rate that missed it; absent if all kept it

  bool operator==(const MaxRate&) const = default;
};
void to_json(nlohmann::json& json, const MaxRate& max_rate);
void from_json(const nlohmann::json& json, MaxRate& max_rate);

/// A trial's Server phases: one at the trial's rate, or those of its search, in the order in which they ran.
struct ServerRecord {
  std::vector<ServerRun> runs;
  std::optional<MaxRate> max_rate;  ///< of a search

  bool operator==(const ServerRecord&) const = default;
};
void to_json(nlohmann::json& json, const ServerRecord& server);
void from_json(const nlohmann::json& json, ServerRecord& server);

}  // namespace paretopipe::record
