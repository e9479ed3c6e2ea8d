#include <paretopipe/config/phases.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/suggest.hpp>

#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::config {
namespace {

constexpr std::array kPhases{Phases::both, Phases::single_stream, Phases::offline};

}  // namespace

std::string to_string(Phases phases) {
  switch (phases) {
    case Phases::single_stream:
      return "single-stream";
    case Phases::offline:
      return "offline";
    case Phases::both:
      break;
  }
  return "both";
}

Phases parse_phases(const std::string& text) {
  std::vector<std::string> known;
  for (const auto phases : kPhases) {
    known.push_back(to_string(phases));
    if (text == known.back()) return phases;
  }
  throw UsageError(
      fmt::format("phases is \"{}\"; it must be {}{}", text, fmt::join(known, " or "), did_you_mean(text, known)));
}

std::string describe(Phases phases) {
  return phases == Phases::both ? "" : to_string(phases) + " only";
}

void to_json(nlohmann::json& json, Phases phases) {
  json = to_string(phases);
}

void from_json(const nlohmann::json& json, Phases& phases) {
  phases = parse_phases(json.get<std::string>());
}

}  // namespace paretopipe::config
