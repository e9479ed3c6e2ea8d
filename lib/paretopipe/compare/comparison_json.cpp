#include <paretopipe/compare/render.hpp>
#include <paretopipe/report/format.hpp>

#include <nlohmann/json.hpp>

#include "wording.hpp"

namespace paretopipe::compare {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const plan::Trial& trial) {
  nlohmann::json settings = trial;
  settings.erase("split_points");
  settings.erase("repetition");
  settings.erase("data_parallel");
  return {{"settings", Json(settings)}, {"split_points", trial.split_points}, {"label", report::split_label(trial)}};
}

Json to_json(const Repetitions& repetitions) {
  return {{"ok", repetitions.ok}, {"failed", repetitions.failed}, {"invalid", repetitions.invalid}};
}

Json to_json(const Change& change) {
  Json json{{"metric", change.metric->name},
            {"unit", change.metric->unit},
            {"base_count", change.base_count},
            {"new_count", change.new_count}};
  if (change.base_median) json["base_median"] = *change.base_median;
  if (change.new_median) json["new_median"] = *change.new_median;
  if (change.ratio) json["ratio"] = *change.ratio;
  if (change.interval) json["ratio_interval"] = {change.interval->low, change.interval->high};
  if (change.rank_test) {
    json["mann_whitney_u"] = change.rank_test->u;
    json["p_value"] = change.rank_test->p_value;
    json["p_value_is_exact"] = change.rank_test->exact;
    json["cliffs_delta"] = *change.effect;
  }
  if (change.signed_test) {
    json["wilcoxon_w"] = change.signed_test->rank_sum;
    json["p_value"] = change.signed_test->p_value;
    json["p_value_is_exact"] = true;
    json["rank_biserial"] = *change.effect;
  }
  if (change.corrected_p) {
    json["corrected_p_value"] = *change.corrected_p;
    json["checks"] = change.checks;
    json["repetitions_needed"] = change.repetitions_needed;
  }
  json["verdict"] = to_string(change.verdict);
  return json;
}

Json to_json(const Rule& rule, const Change& change, Outcome outcome) {
  return {{"fail_on", rule.text()}, {"outcome", to_string(outcome)}, {"reason", explain(rule, change)}};
}

Json together_of(const Comparison& comparison) {
  Json json{{"changes", Json::array()}, {"checks", Json::array()}};
  for (const auto& change : comparison.together) {
    if (change) json["changes"].push_back(to_json(*change));
  }
  for (std::size_t i = 0; i < comparison.request.rules.size(); ++i) {
    const auto& change = comparison.together_of(i);
    if (!change) continue;
    json["checks"].push_back(to_json(comparison.request.rules[i], *change, *comparison.together_outcomes[i]));
  }
  return json;
}

Json to_json(const Comparison& comparison, const ConfigurationChange& configuration) {
  auto json = to_json(configuration.trial);
  json["base_repetitions"] = to_json(configuration.base);
  json["new_repetitions"] = to_json(configuration.now);
  json["changes"] = Json::array();
  for (const auto& change : configuration.changes) json["changes"].push_back(to_json(change));
  json["checks"] = Json::array();
  for (std::size_t i = 0; i < comparison.request.rules.size(); ++i) {
    json["checks"].push_back(
        to_json(comparison.request.rules[i], comparison.change_of(configuration, i), configuration.outcomes[i]));
  }
  return json;
}

Json to_json(const std::vector<plan::Trial>& trials) {
  Json list = Json::array();
  for (const auto& trial : trials) list.push_back(to_json(trial));
  return list;
}

}  // namespace

std::string render_json(const Comparison& comparison) {
  Json json{{"regression", comparison.regression()},
            {"conclusion", conclusion(comparison)},
            {"base", {{"path", comparison.base_name}, {"machines", comparison.base_machines}}},
            {"new", {{"path", comparison.new_name}, {"machines", comparison.new_machines}}},
            {"paired", comparison.paired},
            {"together", together_of(comparison)},
            {"configurations", Json::array()},
            {"only_in_base", to_json(comparison.only_base)},
            {"only_in_new", to_json(comparison.only_new)}};
  for (const auto& configuration : comparison.configurations) {
    json["configurations"].push_back(to_json(comparison, configuration));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace paretopipe::compare
