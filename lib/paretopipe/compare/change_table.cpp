#include "change_table.hpp"

#include <paretopipe/report/format.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "wording.hpp"

namespace paretopipe::compare {
namespace {

using Cells = std::vector<std::string>;
using Columns = std::vector<report::Table::Column>;

/// The columns of a change, apart from its medians.
Columns columns_of_change() {
  using report::Align;
  return {{"change", Align::right},   {"95 % interval", Align::right},
          {"p (Holm)", Align::right}, {"delta", Align::right},
          {"n", Align::right},        {"verdict"}};
}

Cells cells_of(const Change& change, const std::string& missing_mark) {
  const auto interval = [&] {
    return fmt::format("{} to {}", percent_of(change.interval->low), percent_of(change.interval->high));
  };
  return {
      change.ratio ? percent_of(*change.ratio) : missing_mark,
      change.interval ? interval() : missing_mark,
      change.corrected_p ? fmt::format("{:.2g}", *change.corrected_p) : missing_mark,
      change.effect ? fmt::format("{:.2f}", *change.effect) : missing_mark,
      change.paired ? std::to_string(change.base_count) : fmt::format("{}, {}", change.base_count, change.new_count),
      to_string(change.verdict)};
}

template <class T>
std::vector<T> operator+(std::vector<T> left, const std::vector<T>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

bool is_bad(Verdict verdict) {
  return verdict == Verdict::worse || verdict == Verdict::lost;
}

}  // namespace

ChangeTable make_change_table(std::span<const ConfigurationChange> group, const std::string& missing_mark) {
  using report::Align;
  const Columns medians{{"split"}, {"metric"}, {"base", Align::right}, {"new", Align::right}};
  ChangeTable table{medians + columns_of_change(), {}, {}};
  for (const auto& configuration : group) {
    for (const auto& change : configuration.changes) {
      if (!change.measured()) continue;
      const auto value = [&](const std::optional<double>& median) {
        return median ? report::format_value(*median, change.metric->unit) : missing_mark;
      };
      table.rows.push_back(Cells{report::split_label(configuration.trial), std::string(change.metric->name),
                                 value(change.base_median), value(change.new_median)} +
                           cells_of(change, missing_mark));
      table.worse.push_back(is_bad(change.verdict));
    }
  }
  return table;
}

ChangeTable make_together_table(const Comparison& comparison, const std::string& missing_mark) {
  ChangeTable table{Columns{{"metric"}} + columns_of_change(), {}, {}};
  for (const auto& change : comparison.together) {
    if (!change) continue;
    table.rows.push_back(Cells{std::string(change->metric->name)} + cells_of(*change, missing_mark));
    table.worse.push_back(is_bad(change->verdict));
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
      const auto& each = comparison.configurations;
      return std::count_if(each.begin(), each.end(), [&](const auto& one) { return one.outcomes[i] == outcome; }) +
             (comparison.together_outcomes[i] == outcome ? 1 : 0);
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

std::vector<std::string> findings_together(const Comparison& comparison) {
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < comparison.request.rules.size(); ++i) {
    const auto& outcome = comparison.together_outcomes[i];
    if (!outcome || *outcome == Outcome::held) continue;
    const auto& rule = comparison.request.rules[i];
    sentences.push_back(fmt::format("{}: {} in {}: {}", to_string(*outcome), rule.text(), kTogether,
                                    explain(rule, *comparison.together_of(i))));
  }
  return sentences;
}

}  // namespace paretopipe::compare
