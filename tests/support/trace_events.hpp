#pragma once
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>

namespace paretopipe::support {

inline std::int64_t nanoseconds(const nlohmann::json& microseconds) {
  return std::llround(microseconds.get<double>() * 1000);
}

/// The events of a trace, but that the beginning and the end of every span ("B" and "E" of one row) are one event with
/// its duration, as a viewer joins them. Fails where a row's events do not alternate or an end comes before its begin.
inline std::vector<nlohmann::json> joined_events(const nlohmann::json& trace) {
  std::vector<nlohmann::json> joined;
  std::map<std::pair<int, int>, std::size_t> open;  // row: where its open span is
  for (const auto& event : trace.at("traceEvents")) {
    const std::pair row{event.at("pid").get<int>(), event.value("tid", 0)};
    if (event.at("ph") != "E") {
      if (event.at("ph") == "B") REQUIRE(open.emplace(row, joined.size()).second);
      joined.push_back(event);
      continue;
    }
    REQUIRE(open.contains(row));
    auto& span = joined[open.extract(row).mapped()];
    REQUIRE(event.at("ts") > span.at("ts"));
    span["dur"] = static_cast<double>(nanoseconds(event.at("ts")) - nanoseconds(span.at("ts"))) / 1000;
  }
  REQUIRE(open.empty());
  return joined;
}

}  // namespace paretopipe::support
