#pragma once
#include <paretopipe/core/json_fields.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::experiment {

/// The statistic that a latency bound limits.
enum class LatencyStatistic { mean, p50, p90, p95, p99, max };
NLOHMANN_JSON_SERIALIZE_ENUM(LatencyStatistic, {{LatencyStatistic::mean, "mean"},
                                                {LatencyStatistic::p50, "p50"},
                                                {LatencyStatistic::p90, "p90"},
                                                {LatencyStatistic::p95, "p95"},
                                                {LatencyStatistic::p99, "p99"},
                                                {LatencyStatistic::max, "max"}})

/// A bound that the statistic of the latencies must stay below.
struct LatencyBound {
  LatencyStatistic statistic = LatencyStatistic::p99;
  std::int64_t limit_ns = 0;

  bool operator==(const LatencyBound&) const = default;
};
PARETOPIPE_JSON(LatencyBound, statistic, limit_ns)

/// Parses "p99 < 100ms". Throws UsageError for anything else, and for a limit of zero.
LatencyBound parse_latency_bound(std::string_view text);
/// "p99 < 100 ms"
std::string to_string(const LatencyBound& bound);

/// MLPerf's Server scenario: queries arrive as a Poisson process, however late the pipeline is. A query is a batch.
/// Rates are in images per second, like throughput, so queries arrive `batch` times less often.
struct ServerLoad {
  double rate_image_per_s = 0;          ///< 0 if the highest rate that keeps `bound` is searched
  std::optional<LatencyBound> bound{};  ///< none if the rate is given
  int queries = 0;                      ///< number that enters the statistics, at every rate

  bool operator==(const ServerLoad&) const = default;
};
void to_json(nlohmann::json& json, const ServerLoad& load);
/// For records, which a program wrote. Throws UsageError unless the load has either a rate or a bound, and values in
/// range.
void from_json(const nlohmann::json& json, ServerLoad& load);

/// "Server at 50 image/s, 128 queries", "Server, highest rate with p99 < 100 ms, 128 queries"
std::string to_string(const ServerLoad& load);

inline constexpr int kDefaultQueries = 128;

/// An experiment's Server phases. There are none without rates and without a bound.
struct ServerSettings {
  std::vector<double> rates{};    ///< image/s, measured in turn
  std::string find_max_rate{};    ///< as parse_latency_bound() reads it; empty: no search
  int queries = kDefaultQueries;  ///< at every rate

  bool operator==(const ServerSettings&) const = default;
};

/// Throws UsageError naming the first key whose value is out of range, if rates are given besides a search, and if
/// phases would take longer than a day. `warmup` and `batch` are the experiment's.
void validate(const ServerSettings& settings, int warmup, int batch);

/// The loads under which the trials of these settings are measured; empty if there is no Server phase.
std::vector<ServerLoad> loads_of(const ServerSettings& settings);

}  // namespace paretopipe::experiment
