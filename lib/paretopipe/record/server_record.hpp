#pragma once
#include <paretopipe/core/server_timeline.hpp>
#include <paretopipe/record/summary.hpp>

#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::record {

/// What a Server phase measured at one rate, derived from its moments.
struct ServerSummary {
  Distribution latency;             ///< completed − scheduled
  double offered_image_per_s = 0;   ///< by the schedule of the measured queries, which chance made
  double achieved_image_per_s = 0;  ///< completed, between the first and the last completion of the same queries
  bool saturated = false;           ///< the pipeline did not keep up: its latency says how long the phase was
  double source_wait_mean_ns = 0;   ///< of the latency: waiting at the source, because `depth` batches were in flight

  bool operator==(const ServerSummary&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerSummary, latency, offered_image_per_s, achieved_image_per_s, saturated,
                                   source_wait_mean_ns)

/// A Server phase at one rate. The moments are in nanoseconds since the beginning of its schedule.
struct ServerRun {
  double rate_image_per_s = 0;  ///< asked for
  int warmup = 0;               ///< the first so many batches enter no statistic
  ServerTimeline moments;
  ServerSummary summary;

  bool operator==(const ServerRun&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerRun, rate_image_per_s, warmup, moments, summary)

/// How a search for the highest rate ended: it lies between the two.
struct MaxRate {
  std::optional<double> kept_image_per_s;    ///< highest rate that kept the bound; absent: none of those tried did
  std::optional<double> missed_image_per_s;  ///< lowest that did not; absent: all of those tried kept it

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
