#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/experiment/server_load.hpp>

#include <algorithm>

namespace paretopipe::experiment {

namespace {

constexpr int kMaxQueries = 50'000;  // the limit of batches of the other phases
constexpr double kMinRate = 1e-3;
constexpr double kMaxRate = 1e6;
constexpr double kLongestPhase_s = 86'400;

std::string name_of(LatencyStatistic statistic) {
  return nlohmann::json(statistic).get<std::string>();
}

LatencyStatistic parse_statistic(std::string_view name, std::string_view text) {
  const auto statistic = nlohmann::json(std::string(name)).get<LatencyStatistic>();  // an unknown word reads as mean
  if (name_of(statistic) == name) return statistic;
  throw UsageError(fmt::format(
      "the latency bound \"{}\" is about \"{}\"; it must be about one of mean, p50, p90, p95, p99, max", text, name));
}

/// The duration in the largest unit of which it is a whole number.
std::string exact_duration(std::int64_t ns) {
  struct Unit {
    std::int64_t ns;
    const char* name;
  };
  for (const auto& [size, name] : {Unit{1'000'000'000, "s"}, Unit{1'000'000, "ms"}, Unit{1'000, "us"}}) {
    if (ns % size == 0) return fmt::format("{} {}", ns / size, name);
  }
  return fmt::format("{} ns", ns);
}

}  // namespace

LatencyBound parse_latency_bound(std::string_view text) {
  const auto sign = text.find('<');
  if (sign == std::string_view::npos) {
    throw UsageError(fmt::format("the latency bound is \"{}\"; it must be such as 'p99 < 100ms'", text));
  }
  LatencyBound bound;
  bound.statistic = parse_statistic(trimmed(text.substr(0, sign)), text);
  const auto limit = with_prefix(fmt::format("the latency bound \"{}\": ", text),
                                 [&] { return parse_duration(trimmed(text.substr(sign + 1))); });
  bound.limit_ns = limit.count();
  if (bound.limit_ns <= 0) throw UsageError(fmt::format("the latency bound \"{}\" allows no latency at all", text));
  return bound;
}

std::string to_string(const LatencyBound& bound) {
  return fmt::format("{} < {}", name_of(bound.statistic), exact_duration(bound.limit_ns));
}

void to_json(nlohmann::json& json, const ServerLoad& load) {
  json = {{"queries", load.queries}};
  if (load.bound) {
    json["bound"] = *load.bound;
  } else {
    json["rate_image_per_s"] = load.rate_image_per_s;
  }
}

void from_json(const nlohmann::json& json, ServerLoad& load) {
  json.at("queries").get_to(load.queries);
  read_optional(json, "bound", load.bound);
  load.rate_image_per_s = json.value("rate_image_per_s", 0.0);
  const bool at_rate = load.rate_image_per_s >= kMinRate && load.rate_image_per_s <= kMaxRate;
  if (load.queries < 2 || load.queries > kMaxQueries || at_rate == load.bound.has_value() ||
      (load.bound && (load.bound->limit_ns <= 0 || json.contains("rate_image_per_s")))) {
    throw UsageError(fmt::format("{} is not a load: it must have 2 to {} queries, and either a rate or a bound",
                                 json.dump(), kMaxQueries));
  }
}

std::string to_string(const ServerLoad& load) {
  const auto what = load.bound ? fmt::format(", highest rate with {}", to_string(*load.bound))
                               : fmt::format(" at {:g} image/s", load.rate_image_per_s);
  return fmt::format("Server{}, {} queries", what, load.queries);
}

void validate(const ServerSettings& settings, int warmup, int batch) {
  const auto& rates = settings.rates;
  if (!settings.find_max_rate.empty()) {
    if (!rates.empty()) throw UsageError("experiment.server has rates and find_max_rate; measure one after the other");
    parse_latency_bound(settings.find_max_rate);
  }
  for (auto rate = rates.begin(); rate != rates.end(); ++rate) {
    if (!(*rate >= kMinRate && *rate <= kMaxRate)) {
      throw UsageError(fmt::format("experiment.server.rates holds {:g}; it must be from {:g} to {:g} image/s", *rate,
                                   kMinRate, kMaxRate));
    }
    if (std::find(rates.begin(), rate, *rate) != rate) {
      throw UsageError(fmt::format("experiment.server.rates holds {:g} twice", *rate));
    }
    const double seconds = (static_cast<double>(warmup) + settings.queries) * batch / *rate;
    if (seconds > kLongestPhase_s) {
      throw UsageError(
          fmt::format("experiment.server.rates holds {:g}: {} queries of {} images and {} to warm up would take {:.0f} "
                      "s to arrive; ask for fewer queries",
                      *rate, settings.queries, batch, warmup, seconds));
    }
  }
}

std::vector<ServerLoad> loads_of(const ServerSettings& settings) {
  std::vector<ServerLoad> loads;
  for (const double rate : settings.rates) loads.push_back({rate, std::nullopt, settings.queries});
  if (!settings.find_max_rate.empty()) {
    loads.push_back({0, parse_latency_bound(settings.find_max_rate), settings.queries});
  }
  return loads;
}

}  // namespace paretopipe::experiment
