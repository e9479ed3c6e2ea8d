#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/scenario.hpp>

#include <fmt/format.h>

namespace paretopipe::experiment {

namespace {

constexpr Word<Phases> kPhases[]{
    {Phases::both, "both"}, {Phases::single_stream, "single-stream"}, {Phases::offline, "offline"}};
constexpr const char* kTraining = "training";  // of records; an experiment has its task for it

constexpr Word<Baseline> kBaselines[]{
    {Baseline::single, "single"}, {Baseline::sequential, "sequential"}, {Baseline::data_parallel, "data-parallel"}};

}  // namespace

std::string to_string(Phases phases) {
  return phases == Phases::training ? kTraining : word_of(kPhases, phases);
}

Phases parse_phases(const std::string& text) {
  return text == kTraining ? Phases::training : parse_word("phases", kPhases, text);
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
  if (const auto found = find_word(kBaselines, text)) return *found;
  throw UsageError(fmt::format("\"{}\" is not a baseline; it must be single, sequential or data-parallel{}", text,
                               did_you_mean(text, all_words(kBaselines))));
}

}  // namespace paretopipe::experiment
