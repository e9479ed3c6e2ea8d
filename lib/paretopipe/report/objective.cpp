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

config::Phases measured_phases(std::span<const record::TrialRecord> records) {
  bool single_stream = false, offline = false;
  for (const auto& record : records) {
    if (record.status != record::Status::ok) continue;
    if (record.trial.phases == config::Phases::both) return config::Phases::both;
    (config::has_offline(record.trial.phases) ? offline : single_stream) = true;
  }
  return single_stream ? config::Phases::single_stream : offline ? config::Phases::offline : config::Phases::both;
}

std::vector<Objective> parse_objectives(const std::vector<std::string>& texts, config::Phases measured) {
  std::vector<Objective> objectives;
  if (texts.empty()) {
    for (const auto* metric : record::usual_objectives(measured)) objectives.push_back({metric, metric->better});
  }
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
