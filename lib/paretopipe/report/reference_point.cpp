#include <paretopipe/core/error.hpp>
#include <paretopipe/core/suggest.hpp>
#include <paretopipe/report/quantity.hpp>
#include <paretopipe/report/reference_point.hpp>

#include <algorithm>

#include <fmt/ranges.h>

namespace paretopipe::report {
namespace {

std::size_t find_objective(std::string_view name, const std::vector<Objective>& objectives, const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    if (objectives[i].metric->name == name) return i;
    names.emplace_back(objectives[i].metric->name);
  }
  throw UsageError(fmt::format("the reference \"{}\" names no objective of this frontier{} Its objectives: {}", text,
                               closest_word(name, names) ? did_you_mean(name, names) : ".", fmt::join(names, ", ")));
}

}  // namespace

std::vector<std::optional<double>> parse_reference(const std::vector<std::string>& texts,
                                                   const std::vector<Objective>& objectives) {
  std::vector<std::optional<double>> reference(objectives.size());
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) {
      throw UsageError(fmt::format("\"{}\" is not a reference; write it like latency_p50=500ms", text));
    }
    const auto name = std::string_view(text).substr(0, equals);
    const auto objective = find_objective(name, objectives, text);
    if (reference[objective]) throw UsageError(fmt::format("the reference of {} is given twice", name));
    try {
      reference[objective] = parse_value(std::string_view(text).substr(equals + 1), objectives[objective].metric->unit);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("in the reference \"{}\": {}", text, error.what()));
    }
  }
  return reference;
}

}  // namespace paretopipe::report
