#include "frontier_words.hpp"

#include <paretopipe/record/labels.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::render {

namespace {

/// The text after the number: "ms" of "39.0 ms".
std::string_view unit_of(std::string_view value) {
  const auto blank = value.find(' ');
  return blank == std::string_view::npos ? std::string_view{} : value.substr(blank + 1);
}

std::string_view number_of(std::string_view value) {
  return value.substr(0, value.find(' '));
}

/// Two digits, or whole ones: "1.4", "58", "1430".
std::string short_number(double value) {
  return fmt::format("{:.{}f}", value, value == 0 || std::abs(value) >= 9.95 ? 0 : 1);
}

std::string compare(double value, double better, std::string_view unit) {
  if (value == better) return "=";
  if (better == 0) return fmt::format("{}{}", value > better ? "+" : "", record::format_value(value, unit));
  const double ratio = (value - better) / std::abs(better) * 100;
  return fmt::format("{}{}%", value > better ? "+" : "-", short_number(std::abs(ratio)));
}

}  // namespace

std::string percent(double share) {
  return fmt::format("{} %", short_number(share * 100));
}

std::string probability(double share) {
  if (share > 0 && share < 0.01) return "<1 %";
  if (share < 1 && share > 0.99) return ">99 %";
  return fmt::format("{:.0f} %", share * 100);
}

std::string format_interval(const stats::Interval& interval, double beside, std::string_view unit,
                            const std::string& to) {
  const auto low = record::format_value(interval.low, unit), high = record::format_value(interval.high, unit);
  if (unit_of(low) != unit_of(high)) return low + to + high;
  const auto value = record::format_value(beside, unit);
  return fmt::format("{}{}{}", number_of(low), to, unit_of(value) == unit_of(high) ? number_of(high) : high);
}

std::string short_label(const frontier::FrontierRow& row) {
  const auto& trial = row.configuration.trial;
  return record::cut_name(trial) + (trial.all_remote() ? " remote" : trial.all_local() ? " local" : "");
}

std::string split_list(const frontier::FrontierGroup& group, const std::vector<std::size_t>& rows) {
  const auto name = [&](std::size_t row) { return record::cut_name(group.rows[row].configuration.trial); };
  std::vector<std::string> items;
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t last = i;
    while (last + 1 < rows.size() && rows[last + 1] == rows[last] + 1) ++last;
    if (last < i + 2) last = i;
    items.push_back(last == i ? name(rows[i]) : fmt::format("{}-{}", name(rows[i]), name(rows[last])));
    i = last + 1;
  }
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string shortfall(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                      const frontier::FrontierRow& row) {
  std::vector<std::string> items;
  const auto& better = group.rows[*row.dominated_by];
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    items.push_back(compare(*row.values[i], *better.values[i], report.objectives[i].metric->unit));
  }
  return fmt::format("{}", fmt::join(items, " "));
}

std::string superlative(const frontier::Objective& objective) {
  return fmt::format("{} {}", objective.direction == record::Direction::min ? "lowest" : "highest",
                     objective.metric->name);
}

namespace {

constexpr double kSure = 0.95;  ///< share of the resamples from which a choice needs no hedge

/// "Cut after block 7", "Cut after blocks 3 and 7", "Do not split (all local)".
std::string verdict(const experiment::Trial& trial) {
  if (trial.all_local()) return "Do not split (all local)";
  if (trial.all_remote()) return "Do not split (all remote)";
  const auto& cuts = trial.split_points;
  auto with = trial.codec == codec::kNone ? "" : fmt::format(" with {}", record::printable(trial.codec));
  if (trial.training) with += fmt::format(", trained {}", trial.way_of_training());
  return fmt::format("Cut after block{} {}{}", cuts.size() == 1 ? "" : "s", fmt::join(cuts, " and "), with);
}

std::string value_of(const frontier::FrontierReport& report, const frontier::FrontierRow& row, std::size_t objective) {
  return record::format_value(*row.values[objective], report.objectives[objective].metric->unit);
}

/// "latency_p50 20.8 ms (best 18.1 ms, at 10) and throughput 494 image/s (the best)"
std::string values_with_best(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                             const frontier::FrontierRow& row) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < report.objectives.size(); ++i) {
    const auto& best = group.rows[group.recommendation->best[i]];
    const auto comparison = best.values[i] == row.values[i] ? std::string("the best")
                                                            : fmt::format("best {}, at {}", value_of(report, best, i),
                                                                          record::cut_name(best.configuration.trial));
    items.push_back(fmt::format("{} {} ({})", report.objectives[i].metric->name, value_of(report, row, i), comparison));
  }
  return fmt::format("{}", fmt::join(items, " and "));
}

/// "18.1 ms and 442 image/s"
std::string bare_values(const frontier::FrontierReport& report, const frontier::FrontierRow& row) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < report.objectives.size(); ++i) items.push_back(value_of(report, row, i));
  return fmt::format("{}", fmt::join(items, " and "));
}

std::string alternative_clause(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                               const frontier::FrontierRow& chosen) {
  const auto alternative = group.recommendation->alternative;
  if (!alternative) return chosen.is_endpoint() ? "; no cut was compared" : "; not splitting was not compared";
  const auto& other = group.rows[*alternative];
  const auto& trial = other.configuration.trial;
  const auto values = bare_values(report, other);
  if (!other.is_endpoint()) return fmt::format("; the best cut, {}, gives {}", record::cut_name(trial), values);
  return fmt::format("; not splitting ({}) gives {}", trial.all_local() ? "all local" : "all remote", values);
}

std::string lower_first(std::string text) {
  text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

/// If a cut cannot be told from an endpoint, the verdict names both.
std::string hedged_verdict(const frontier::FrontierGroup& group, const frontier::FrontierRow& chosen) {
  auto text = verdict(chosen.configuration.trial);
  const auto other = group.recommendation->alternative;
  if (chosen.is_endpoint() || !other || !std::ranges::binary_search(chosen.alike, *other)) return text;
  return fmt::format("{}, or {}", text, lower_first(verdict(group.rows[*other].configuration.trial)));
}

/// The row that resampling picks most often instead of `chosen`; none where it never picks another.
const frontier::FrontierRow* rival_of(const frontier::FrontierGroup& group, const frontier::FrontierRow& chosen) {
  const frontier::FrontierRow* rival = nullptr;
  for (const auto& row : group.rows) {
    if (&row == &chosen || row.balanced_probability.value_or(0) == 0) continue;
    if (rival == nullptr || *row.balanced_probability > *rival->balanced_probability) rival = &row;
  }
  return rival;
}

std::string hedge(const frontier::FrontierGroup& group, const frontier::FrontierRow& chosen) {
  if (!chosen.balanced_probability) return "; one repetition cannot tell merit from noise";
  std::string text;
  const auto* rival = rival_of(group, chosen);
  if (rival != nullptr && *chosen.balanced_probability < kSure) {
    text +=
        fmt::format("; not sure: {} of the resamples pick it, {} pick {}", probability(*chosen.balanced_probability),
                    probability(*rival->balanced_probability), record::cut_name(rival->configuration.trial));
  }
  if (!chosen.alike.empty()) {
    text += fmt::format("; the repetitions cannot tell it from {}", split_list(group, chosen.alike));
  }
  return text;
}

/// The objectives that trials of only one phase can have.
std::string other_objectives(experiment::Phases phases) {
  std::vector<std::string> flags;
  for (const auto* metric : record::usual_objectives(phases))
    flags.push_back(fmt::format("--objective {}", metric->name));
  return fmt::format("{}", fmt::join(flags, " "));
}

/// The objectives that the trials of a group cannot have because they were measured in only one phase.
std::vector<std::string> unmeasured(const frontier::FrontierReport& report, const frontier::FrontierGroup& group) {
  std::vector<std::string> names;
  for (const auto& objective : report.objectives) {
    if (!objective.metric->measured_by(group.settings().phases)) names.emplace_back(objective.metric->name);
  }
  return names;
}

std::string no_split(const frontier::FrontierReport& report, const frontier::FrontierGroup& group) {
  const auto phases = group.settings().phases;
  if (const auto lacking = unmeasured(report, group); !lacking.empty()) {
    return fmt::format("No split can be recommended: these trials were measured {}, which gives no {}; try {}.",
                       experiment::describe(phases), fmt::join(lacking, " and no "), other_objectives(phases));
  }
  std::vector<std::string> labels;
  for (const auto& constraint : report.options.constraints) labels.push_back(constraint.label());
  if (labels.empty()) return "No split can be recommended: none has all the objectives.";
  return fmt::format("No split can be recommended: none has all the objectives and keeps {}.",
                     fmt::join(labels, " and "));
}

std::string place_of(const frontier::FrontierReport& report, const frontier::NetworkFamily& family,
                     const frontier::RobustCandidate& candidate) {
  return fmt::format("{} over {}", report.objectives[candidate.worst_objective].metric->name,
                     record::printable(report.groups[family.groups[candidate.worst_group]].settings().network.name));
}

const frontier::FrontierRow& row_of(const frontier::FrontierReport& report, const frontier::NetworkFamily& family,
                                    const frontier::RobustCandidate& candidate) {
  return report.groups[family.groups.front()].rows[candidate.rows.front()];
}

/// The costs of the endpoints, except one that was chosen.
std::string endpoint_clauses(const frontier::FrontierReport& report, const frontier::NetworkFamily& family) {
  std::string text;
  for (const auto& candidate : family.candidates) {
    const auto& row = row_of(report, family, candidate);
    if (&candidate == &family.candidates[*family.robust] || !row.is_endpoint()) continue;
    text += fmt::format("; {} is {} from it at worst ({})",
                        row.configuration.trial.all_local() ? "all local" : "all remote",
                        percent(candidate.worst_regret), place_of(report, family, candidate));
  }
  return text;
}

bool alike_everywhere(const frontier::FrontierReport& report, const frontier::NetworkFamily& family,
                      const frontier::RobustCandidate& left, const frontier::RobustCandidate& right) {
  for (std::size_t i = 0; i < family.groups.size(); ++i) {
    const auto& alike = report.groups[family.groups[i]].rows[left.rows[i]].alike;
    if (!std::binary_search(alike.begin(), alike.end(), right.rows[i])) return false;
  }
  return true;
}

std::string robust_hedge(const frontier::FrontierReport& report, const frontier::NetworkFamily& family) {
  const auto& chosen = family.candidates[*family.robust];
  std::vector<std::size_t> alike;  // rows of the first group
  for (const auto& candidate : family.candidates) {
    if (alike_everywhere(report, family, chosen, candidate)) alike.push_back(candidate.rows.front());
  }
  if (alike.empty()) return "";
  return fmt::format("; over no network can the repetitions tell it from {}",
                     split_list(report.groups[family.groups.front()], alike));
}

}  // namespace

std::string headline(const frontier::FrontierReport& report, const frontier::FrontierGroup& group) {
  if (!group.recommendation) return no_split(report, group);
  const auto& chosen = group.rows[group.recommendation->balanced.option];
  if (std::ranges::count_if(group.rows, &frontier::FrontierRow::compared) == 1) {
    return fmt::format("Nothing to choose from: only split {} was compared, with {}.",
                       record::split_label(chosen.configuration.trial), bare_values(report, chosen));
  }
  const bool best = group.recommendation->balanced.worst_regret == 0;
  return fmt::format("{}{}: {}{}{}.", hedged_verdict(group, chosen), best ? "" : ", as the best compromise",
                     values_with_best(report, group, chosen), alternative_clause(report, group, chosen),
                     hedge(group, chosen));
}

std::string robust_headline(const frontier::FrontierReport& report, const frontier::NetworkFamily& family) {
  std::vector<std::string> networks;
  for (const auto index : family.groups)
    networks.push_back(record::printable(report.groups[index].settings().network.name));
  const auto which = fmt::format("Whatever the network ({})", fmt::join(networks, ", "));
  if (!family.robust) return fmt::format("{}: no split was compared over all of them.", which);
  const auto& chosen = family.candidates[*family.robust];
  const auto what = lower_first(verdict(row_of(report, family, chosen).configuration.trial));
  const auto regret = chosen.worst_regret == 0
                          ? std::string("the best everywhere")
                          : fmt::format("at worst {} from the best ({})", percent(chosen.worst_regret),
                                        place_of(report, family, chosen));
  return fmt::format("{}: {}, {}{}{}.", which, what, regret, endpoint_clauses(report, family),
                     robust_hedge(report, family));
}

}  // namespace paretopipe::render
