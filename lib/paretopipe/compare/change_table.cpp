#include "change_table.hpp"

#include <paretopipe/report/format.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "wording.hpp"

namespace paretopipe::compare {
namespace {

std::vector<std::string> cells_of(const plan::Trial& trial, const Change& change, const std::string& missing_mark) {
  const auto value = [&](const std::optional<double>& median) {
    return median ? report::format_value(*median, change.metric->unit) : missing_mark;
  };
  const auto interval = [&] {
    return fmt::format("{} to {}", percent_of(change.interval->low), percent_of(change.interval->high));
  };
  return {report::split_label(trial),
          std::string(change.metric->name),
          value(change.base_median),
          value(change.new_median),
          change.ratio ? percent_of(*change.ratio) : missing_mark,
          change.interval ? interval() : missing_mark,
          change.test ? fmt::format("{:.2g}", change.test->p_value) : missing_mark,
          change.cliffs_delta ? fmt::format("{:.2f}", *change.cliffs_delta) : missing_mark,
          fmt::format("{}, {}", change.base_count, change.new_count),
          to_string(change.verdict)};
}

}  // namespace

ChangeTable make_change_table(std::span<const ConfigurationChange> group, const std::string& missing_mark) {
  using report::Align;
  ChangeTable table{{{"split"},
                     {"metric"},
                     {"base", Align::right},
                     {"new", Align::right},
                     {"change", Align::right},
                     {"95 % interval", Align::right},
                     {"p", Align::right},
                     {"delta", Align::right},
                     {"n", Align::right},
                     {"verdict"}},
                    {},
                    {}};
  for (const auto& configuration : group) {
    for (const auto& change : configuration.changes) {
      if (!change.measured()) continue;
      table.rows.push_back(cells_of(configuration.trial, change, missing_mark));
      table.worse.push_back(change.verdict == Verdict::worse || change.verdict == Verdict::lost);
    }
  }
  return table;
}

std::vector<std::span<const ConfigurationChange>> groups_of(const Comparison& comparison) {
  std::vector<std::span<const ConfigurationChange>> groups;
  const std::span all(comparison.configurations);
  for (std::size_t begin = 0; begin < all.size();) {
    const auto id = all[begin].trial.group_id();
    auto end = begin + 1;
    while (end < all.size() && all[end].trial.group_id() == id) ++end;
    groups.push_back(all.subspan(begin, end - begin));
    begin = end;
  }
  return groups;
}

ChangeTable make_rule_table(const Comparison& comparison) {
  using report::Align;
  ChangeTable table{
      {{"fails on"}, {"held", Align::right}, {"broken", Align::right}, {"undecided", Align::right}}, {}, {}};
  for (std::size_t i = 0; i < comparison.request.rules.size(); ++i) {
    const auto count = [&](Outcome outcome) {
      const auto& all = comparison.configurations;
      return std::count_if(all.begin(), all.end(), [&](const auto& one) { return one.outcomes[i] == outcome; });
    };
    table.rows.push_back({comparison.request.rules[i].text(), std::to_string(count(Outcome::held)),
                          std::to_string(count(Outcome::broken)), std::to_string(count(Outcome::undecided))});
    table.worse.push_back(count(Outcome::broken) > 0);
  }
  return table;
}

std::vector<std::string> findings(const Comparison& comparison, std::span<const ConfigurationChange> group) {
  std::vector<std::string> sentences;
  for (const auto& configuration : group) {
    for (std::size_t i = 0; i < comparison.request.rules.size(); ++i) {
      if (configuration.outcomes[i] == Outcome::held) continue;
      const auto& rule = comparison.request.rules[i];
      sentences.push_back(fmt::format("{}: {} at split {}: {}", to_string(configuration.outcomes[i]), rule.text(),
                                      report::split_label(configuration.trial),
                                      explain(rule, comparison.change_of(configuration, i))));
    }
  }
  return sentences;
}

}  // namespace paretopipe::compare
