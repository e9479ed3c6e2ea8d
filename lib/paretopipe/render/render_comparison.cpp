#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/render_comparison.hpp>
#include <paretopipe/render/table.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "comparison_words.hpp"
#include "cut_data.hpp"

namespace paretopipe::render {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const experiment::Trial& trial) {
  Json json{{"settings", settings_of_group(trial)}};
  append_cut(json, trial.cut());
  json["label"] = record::split_label(trial);
  return json;
}

Json to_json(const compare::Repetitions& repetitions) {
  return {{"ok", repetitions.ok}, {"failed", repetitions.failed}, {"invalid", repetitions.invalid}};
}

Json to_json(const compare::Change& change) {
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

Json to_json(const compare::Rule& rule, const compare::Change& change, compare::Outcome outcome) {
  return {{"fail_on", rule.text()}, {"outcome", to_string(outcome)}, {"reason", explain(rule, change)}};
}

Json together_of(const compare::Comparison& comparison) {
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

Json to_json(const compare::Comparison& comparison, const compare::ConfigurationChange& configuration) {
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

Json to_json(const std::vector<experiment::Trial>& trials) {
  Json list = Json::array();
  for (const auto& trial : trials) list.push_back(to_json(trial));
  return list;
}

}  // namespace

std::string render_json(const compare::Comparison& comparison) {
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
  return json_text(json);
}

namespace {

/// The content of a testcase element; empty where the rule held.
std::string result_of(const compare::Rule& rule, const compare::Change& change, compare::Outcome outcome, bool strict) {
  if (outcome == compare::Outcome::held) return "";
  const auto reason = xml_escaped(explain(rule, change));
  if (outcome == compare::Outcome::undecided && !strict) return fmt::format("<skipped message=\"{}\"/>", reason);
  return fmt::format("<failure type=\"{}\" message=\"{}\"/>", to_string(outcome), reason);
}

std::string testcase(const std::string& group, const std::string& name, const std::string& result) {
  return fmt::format("    <testcase classname=\"{}\" name=\"{}\">{}</testcase>\n", xml_escaped(group),
                     xml_escaped(name), result);
}

/// The testcases of rule `i`: one for all configurations together, and one for each.
std::string testcases_of(const compare::Comparison& comparison, std::size_t i) {
  const auto& rule = comparison.request.rules[i];
  const bool strict = comparison.request.strict;
  std::string text;
  if (const auto& all = comparison.together_of(i)) {
    text += testcase(kTogether, rule.text(), result_of(rule, *all, *comparison.together_outcomes[i], strict));
  }
  for (const auto& configuration : comparison.configurations) {
    text += testcase(record::group_title(configuration.trial),
                     fmt::format("split {}: {}", record::split_label(configuration.trial), rule.text()),
                     result_of(rule, comparison.change_of(configuration, i), configuration.outcomes[i], strict));
  }
  return text;
}

/// Configurations of the base that were not measured again, each of which fails a strict comparison.
std::string testcases_of_missing(const compare::Comparison& comparison) {
  std::string text;
  for (const auto& trial : comparison.only_base) {
    text += testcase(
        record::group_title(trial), fmt::format("split {}", record::split_label(trial)),
        fmt::format("<failure type=\"missing\" message=\"only {} has it\"/>", xml_escaped(comparison.base_name)));
  }
  return text;
}

}  // namespace

std::string render_junit(const compare::Comparison& comparison) {
  std::string testcases;
  for (std::size_t rule = 0; rule < comparison.request.rules.size(); ++rule) {
    testcases += testcases_of(comparison, rule);
  }
  const bool strict = comparison.request.strict;
  if (strict) testcases += testcases_of_missing(comparison);
  const auto missing = strict ? comparison.only_base.size() : 0;
  const auto undecided = comparison.count(compare::Outcome::undecided);
  const auto broken = comparison.count(compare::Outcome::broken);
  const auto counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"",
                                  missing + broken + undecided + comparison.count(compare::Outcome::held),
                                  strict ? missing + broken + undecided : broken, strict ? 0 : undecided);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite name=\"paretopipe compare\" {0}>\n{1}"
      "  </testsuite>\n</testsuites>\n",
      counts, testcases);
}

namespace {

std::string indented(const std::vector<std::string>& sentences) {
  std::string text = sentences.empty() ? "" : "\n";
  for (const auto& sentence : sentences) text += fmt::format("  {}\n", sentence);
  return text;
}

}  // namespace

std::string render_text(const compare::Comparison& comparison, const TextStyle& style) {
  const TextStyle plain{.unicode = style.unicode};  // green would not say that something got worse
  auto text = conclusion(comparison) + '\n';
  if (!comparison.request.rules.empty()) text += '\n' + make_rule_table(comparison).to_text(plain);
  const std::string missing_mark = style.unicode ? "–" : "-";
  if (const auto together = make_together_table(comparison, missing_mark); !together.empty()) {
    text += fmt::format("\n{}\n\n{}{}", kTogether, together.to_text(plain), indented(findings_together(comparison)));
  }
  for (const auto& group : groups_of(comparison)) {
    text += fmt::format("\n{}\n\n{}{}", record::printable(record::group_title(group.front().trial)),
                        make_change_table(group, missing_mark).to_text(plain), indented(findings(comparison, group)));
  }
  return text + indented(notes(comparison));
}

namespace {

std::string bulleted(const std::vector<std::string>& sentences) {
  return sentences.empty() ? "" : '\n' + markdown_list(sentences);
}

}  // namespace

std::string render_markdown(const compare::Comparison& comparison) {
  auto text = fmt::format("**{}**\n", conclusion(comparison));
  if (!comparison.request.rules.empty()) text += '\n' + make_rule_table(comparison).to_markdown();
  if (const auto together = make_together_table(comparison, "–"); !together.empty()) {
    text += fmt::format("\n### {}\n\n{}{}", kTogether, together.to_markdown(), bulleted(findings_together(comparison)));
  }
  for (const auto& group : groups_of(comparison)) {
    text += fmt::format("\n### {}\n\n{}{}", markdown_escaped(record::group_title(group.front().trial)),
                        make_change_table(group, "–").to_markdown(), bulleted(findings(comparison, group)));
  }
  return text + bulleted(notes(comparison));
}

}  // namespace paretopipe::render
