#include <paretopipe/core/error.hpp>
#include <paretopipe/report/objective.hpp>

#include <algorithm>

namespace paretopipe::report {
namespace {

std::string_view to_text(record::Direction direction) {
  return direction == record::Direction::min ? "min" : "max";
}

}  // namespace

std::string Objective::label() const {
  return fmt::format("{}:{}", metric->name, to_text(direction));
}

Objective parse_objective(std::string_view text) {
  const auto colon = text.find(':');
  const auto& metric = record::find_metric(text.substr(0, colon));
  if (colon == std::string_view::npos) return {&metric, metric.better};
  const auto direction = text.substr(colon + 1);
  if (direction == "min") return {&metric, record::Direction::min};
  if (direction == "max") return {&metric, record::Direction::max};
  throw UsageError(fmt::format("\"{}\" is not an objective: after the colon comes min or max", text));
}

std::vector<Objective> parse_objectives(const std::vector<std::string>& texts) {
  if (texts.empty()) return parse_objectives({"latency_p50", "throughput"});
  std::vector<Objective> objectives;
  for (const auto& text : texts) {
    const auto objective = parse_objective(text);
    if (std::any_of(objectives.begin(), objectives.end(),
                    [&](const auto& o) { return o.metric == objective.metric; })) {
      throw UsageError(fmt::format("the objective {} is given twice", objective.metric->name));
    }
    objectives.push_back(objective);
  }
  return objectives;
}

}  // namespace paretopipe::report
