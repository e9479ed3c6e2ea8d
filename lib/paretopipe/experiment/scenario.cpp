#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/scenario.hpp>

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::experiment {

namespace {

constexpr std::array kPhases{Phases::both, Phases::single_stream, Phases::offline};

}  // namespace

std::string to_string(Phases phases) {
  switch (phases) {
    case Phases::single_stream:
      return "single-stream";
    case Phases::offline:
      return "offline";
    case Phases::training:
      return "training";
    case Phases::both:
      break;
  }
  return "both";
}

Phases parse_phases(const std::string& text) {
  if (text == to_string(Phases::training)) return Phases::training;  // of records; an experiment has its task for it
  std::vector<std::string> known;
  for (const auto phases : kPhases) {
    known.push_back(to_string(phases));
    if (text == known.back()) return phases;
  }
  throw UsageError(
      fmt::format("phases is \"{}\"; it must be {}{}", text, fmt::join(known, " or "), did_you_mean(text, known)));
}

std::string describe(Phases phases) {
  if (phases == Phases::both) return "";
  return phases == Phases::training ? "training" : to_string(phases) + " only";
}

void to_json(nlohmann::json& json, Phases phases) {
  json = to_string(phases);
}

void from_json(const nlohmann::json& json, Phases& phases) {
  phases = parse_phases(json.get<std::string>());
}

Baseline parse_baseline(const std::string& text) {
  if (text == "single") return Baseline::single;
  if (text == "sequential") return Baseline::sequential;
  if (text == "data-parallel") return Baseline::data_parallel;
  throw UsageError(fmt::format("\"{}\" is not a baseline; it must be single, sequential or data-parallel{}", text,
                               did_you_mean(text, std::vector<std::string>{"single", "sequential", "data-parallel"})));
}

}  // namespace paretopipe::experiment
