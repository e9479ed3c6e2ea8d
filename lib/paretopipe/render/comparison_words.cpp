#include "comparison_words.hpp"

#include <paretopipe/core/text.hpp>
#include <paretopipe/record/labels.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>  // fmt::join, from fmt 11 on

namespace paretopipe::render {

namespace {

/// "+7.5 %"; "+0.012 %" where one decimal would hide it
std::string percent_of(double ratio) {
  const double percent = (ratio - 1) * 100;
  if (std::abs(percent) < 0.0005) return "0.0 %";
  return std::abs(percent) < 0.05 ? fmt::format("{:+.3f} %", percent) : fmt::format("{:+.1f} %", percent);
}

/// "mobilenet_v2, batch 1, …, split 9/20"
std::string describe(const experiment::Trial& trial) {
  return record::printable(fmt::format("{}, {}", record::group_title(trial), record::split_name(trial)));
}

std::string measured_change(const compare::Change& change) {
  const auto unit = change.metric->unit;
  auto text = std::string(change.metric->name);
  if (change.base_median) {
    text += fmt::format(" went from {} to {}", record::format_value(*change.base_median, unit),
                        record::format_value(*change.new_median, unit));
  }
  if (!change.ratio) return text;
  text += fmt::format("{} {}", change.base_median ? "," : " changed by", percent_of(*change.ratio));
  if (change.interval) {
    text +=
        fmt::format(" (95 % interval {} to {})", percent_of(change.interval->low), percent_of(change.interval->high));
  }
  return text;
}

std::string why_too_few(const compare::Change& change) {
  if (!change.measured()) return fmt::format("neither side has {}", change.metric->name);
  if (change.base_count == 0) return fmt::format("the base has no {}", change.metric->name);
  if (change.new_count == 0) return fmt::format("the new records have no {}", change.metric->name);
  const auto repetitions = change.paired
                               ? fmt::format("{} side by side", record::quantity(change.base_count, "repetition"))
                               : fmt::format("{} repetitions against {}", change.base_count, change.new_count);
  return fmt::format("{}; {} are too few to tell that from noise{}: it takes {}", measured_change(change), repetitions,
                     change.checks == 1 ? "" : fmt::format(" in {} checks", change.checks), change.repetitions_needed);
}

/// The p-value as measured and as corrected.
std::string p_value_of(const compare::Change& change) {
  const auto text = fmt::format("p = {:.2g}", *change.p_value);
  if (change.checks == 1) return text;
  return fmt::format("{} ({:.2g} corrected for {} checks)", text, *change.corrected_p, change.checks);
}

std::size_t count_together(const compare::Comparison& comparison, compare::Verdict verdict) {
  const auto& all = comparison.together;
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const auto& change) { return change && change->verdict == verdict; }));
}

/// True if the two sides were measured on different machines, in whatever order. A side without machines (none of its
/// records counts) differs from none.
bool different_machines(const compare::Comparison& comparison) {
  const auto &base = comparison.base_machines, &now = comparison.new_machines;
  return !base.empty() && !now.empty() && !std::is_permutation(base.begin(), base.end(), now.begin(), now.end());
}

std::size_t count(const compare::Comparison& comparison, compare::Verdict verdict) {
  std::size_t found = 0;
  for (const auto& configuration : comparison.configurations) {
    for (const auto& change : configuration.changes) found += change.verdict == verdict ? 1 : 0;
  }
  return found;
}

void note_one_sided(std::vector<std::string>& sentences, const std::vector<experiment::Trial>& trials,
                    const std::string& name) {
  for (const auto& trial : trials) {
    sentences.push_back(fmt::format("only in {}: {}", record::printable(name), describe(trial)));
  }
}

void note_lacking_repetitions(std::vector<std::string>& sentences, const experiment::Trial& trial,
                              const compare::Repetitions& repetitions, const std::string& name) {
  const auto lacking = repetitions.failed + repetitions.invalid;
  if (lacking == 0) return;
  sentences.push_back(fmt::format("{} of {} {} not count in {}: {}", lacking,
                                  record::quantity(lacking + repetitions.ok, "repetition"),
                                  lacking == 1 ? "does" : "do", record::printable(name), describe(trial)));
}

/// Notes the metrics of a phase that none of the trials has.
void note_unmeasured(std::vector<std::string>& sentences, const compare::Comparison& comparison) {
  for (const auto* metric : comparison.request.metrics) {
    const auto& all = comparison.configurations;
    const bool any =
        std::any_of(all.begin(), all.end(), [&](const auto& one) { return metric->measured_by(one.trial.phases); });
    if (any) continue;
    sentences.push_back(fmt::format("{} was not measured: the trials are {}", metric->name,
                                    experiment::describe(all.front().trial.phases)));
  }
}

}  // namespace

std::string to_string(compare::Verdict verdict) {
  using compare::Verdict;
  static constexpr Word<Verdict> kVerdicts[]{{Verdict::better, "better"},
                                             {Verdict::worse, "worse"},
                                             {Verdict::no_change, "no change"},
                                             {Verdict::too_few, "too few repetitions"},
                                             {Verdict::lost, "lost"}};
  return word_of(kVerdicts, verdict);
}

std::string to_string(compare::Outcome outcome) {
  using compare::Outcome;
  static constexpr Word<Outcome> kOutcomes[]{
      {Outcome::held, "held"}, {Outcome::broken, "broken"}, {Outcome::undecided, "undecided"}};
  return word_of(kOutcomes, outcome);
}

std::string explain(const compare::Rule& rule, const compare::Change& change) {
  if (change.verdict == compare::Verdict::lost) return "not one of the new repetitions succeeded";
  if (change.verdict == compare::Verdict::too_few) return why_too_few(change);
  const auto test = fmt::format("{}, {}", measured_change(change), p_value_of(change));
  if (compare::apply(rule, change) == compare::Outcome::broken)
    return fmt::format("{}: past the threshold and beyond noise", test);
  return fmt::format("{}: {}", test, change.beyond_noise() ? "not past the threshold" : "no change beyond noise");
}

std::string conclusion(const compare::Comparison& comparison) {
  if (comparison.request.rules.empty()) {
    const auto lost = count(comparison, compare::Verdict::lost);
    return fmt::format("{} worse and {} better, beyond noise, in {}{}{}; no rule was given.",
                       count(comparison, compare::Verdict::worse), count(comparison, compare::Verdict::better),
                       record::quantity(comparison.configurations.size(), "configuration"),
                       lost == 0 ? "" : fmt::format(", and {} without a new result", lost),
                       comparison.configurations.size() < 2
                           ? ""
                           : fmt::format("; {} worse and {} better in all of them together",
                                         count_together(comparison, compare::Verdict::worse),
                                         count_together(comparison, compare::Verdict::better)));
  }
  const auto broken = comparison.count(compare::Outcome::broken);
  const auto undecided = comparison.count(compare::Outcome::undecided);
  const auto checks = broken + undecided + comparison.count(compare::Outcome::held);
  const auto* verdict = broken > 0 ? "Regression" : comparison.regression() ? "Not passed" : "No regression";
  auto text = fmt::format("{}: {} of {} {} broken", verdict, broken, record::quantity(checks, "check"),
                          broken == 1 || checks == 1 ? "is" : "are");
  if (undecided > 0) text += fmt::format(", {} could not be decided", undecided);
  if (const auto missing = comparison.only_base.size(); missing > 0) {
    text += fmt::format(", {} of the base {} not measured again", record::quantity(missing, "configuration"),
                        missing == 1 ? "was" : "were");
  }
  return text + '.';
}

std::vector<std::string> notes(const compare::Comparison& comparison) {
  std::vector<std::string> sentences;
  if (comparison.paired) {
    sentences.emplace_back("both sides were measured in turns, so repetitions are compared pair by pair");
  }
  if (different_machines(comparison)) {
    sentences.push_back(record::printable(
        fmt::format("the base was measured on {}, the new records on {}: a change may be the machine's",
                    fmt::join(comparison.base_machines, " and "), fmt::join(comparison.new_machines, " and "))));
  }
  note_unmeasured(sentences, comparison);
  for (const auto& configuration : comparison.configurations) {
    note_lacking_repetitions(sentences, configuration.trial, configuration.base, comparison.base_name);
    note_lacking_repetitions(sentences, configuration.trial, configuration.now, comparison.new_name);
  }
  note_one_sided(sentences, comparison.only_base, comparison.base_name);
  note_one_sided(sentences, comparison.only_new, comparison.new_name);
  return sentences;
}

namespace {

using Cells = std::vector<std::string>;
using Columns = std::vector<Table::Column>;

/// The columns of a change, apart from its medians.
Columns columns_of_change() {
  return {{"change", Align::right},   {"95 % interval", Align::right},
          {"p (Holm)", Align::right}, {"delta", Align::right},
          {"n", Align::right},        {"verdict"}};
}

Cells cells_of(const compare::Change& change, const std::string& missing_mark) {
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

bool is_bad(compare::Verdict verdict) {
  return verdict == compare::Verdict::worse || verdict == compare::Verdict::lost;
}

}  // namespace

Table make_change_table(std::span<const compare::ConfigurationChange> group, const std::string& missing_mark) {
  const Columns medians{{"split"}, {"metric"}, {"base", Align::right}, {"new", Align::right}};
  Table table(medians + columns_of_change());
  for (const auto& configuration : group) {
    for (const auto& change : configuration.changes) {
      if (!change.measured()) continue;
      const auto value = [&](const std::optional<double>& median) {
        return median ? record::format_value(*median, change.metric->unit) : missing_mark;
      };
      const Cells first{record::split_label(configuration.trial), std::string(change.metric->name),
                        value(change.base_median), value(change.new_median)};
      table.add_row(first + cells_of(change, missing_mark), is_bad(change.verdict));
    }
  }
  return table;
}

Table make_together_table(const compare::Comparison& comparison, const std::string& missing_mark) {
  Table table(Columns{{"metric"}} + columns_of_change());
  for (const auto& change : comparison.together) {
    if (!change) continue;
    table.add_row(Cells{std::string(change->metric->name)} + cells_of(*change, missing_mark), is_bad(change->verdict));
  }
  return table;
}

std::vector<std::span<const compare::ConfigurationChange>> groups_of(const compare::Comparison& comparison) {
  std::vector<std::span<const compare::ConfigurationChange>> groups;
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

Table make_rule_table(const compare::Comparison& comparison) {
  Table table({{"fails on"}, {"held", Align::right}, {"broken", Align::right}, {"undecided", Align::right}});
  for (std::size_t i = 0; i < comparison.request.rules.size(); ++i) {
    const auto count = [&](compare::Outcome outcome) {
      const auto& each = comparison.configurations;
      return std::count_if(each.begin(), each.end(), [&](const auto& one) { return one.outcomes[i] == outcome; }) +
             (comparison.together_outcomes[i] == outcome ? 1 : 0);
    };
    const auto broken = count(compare::Outcome::broken);
    table.add_row({comparison.request.rules[i].text(), std::to_string(count(compare::Outcome::held)),
                   std::to_string(broken), std::to_string(count(compare::Outcome::undecided))},
                  broken > 0);
  }
  return table;
}

std::vector<std::string> findings(const compare::Comparison& comparison,
                                  std::span<const compare::ConfigurationChange> group) {
  std::vector<std::string> sentences;
  for (const auto& configuration : group) {
    for (std::size_t i = 0; i < comparison.request.rules.size(); ++i) {
      if (configuration.outcomes[i] == compare::Outcome::held) continue;
      const auto& rule = comparison.request.rules[i];
      sentences.push_back(fmt::format("{}: {} at split {}: {}", to_string(configuration.outcomes[i]), rule.text(),
                                      record::split_label(configuration.trial),
                                      explain(rule, comparison.change_of(configuration, i))));
    }
  }
  return sentences;
}

std::vector<std::string> findings_together(const compare::Comparison& comparison) {
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < comparison.request.rules.size(); ++i) {
    const auto& outcome = comparison.together_outcomes[i];
    if (!outcome || *outcome == compare::Outcome::held) continue;
    const auto& rule = comparison.request.rules[i];
    sentences.push_back(fmt::format("{}: {} in {}: {}", to_string(*outcome), rule.text(), kTogether,
                                    explain(rule, *comparison.together_of(i))));
  }
  return sentences;
}

}  // namespace paretopipe::render
