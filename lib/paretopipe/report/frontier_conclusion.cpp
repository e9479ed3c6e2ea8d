#include "frontier_conclusion.hpp"

#include <paretopipe/report/format.hpp>

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontier_words.hpp"

namespace paretopipe::report {
namespace {

constexpr double kSure = 0.95;  ///< share of the resamples from which a choice needs no hedge

std::string value_of(const FrontierReport& report, const FrontierRow& row, std::size_t objective) {
  return format_value(*row.values[objective], report.objectives[objective].metric->unit);
}

/// "latency_p50 20.8 ms (best 18.1 ms, at 10) and throughput 494 image/s (the best)"
std::string values_with_best(const FrontierReport& report, const FrontierGroup& group, const FrontierRow& row) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < report.objectives.size(); ++i) {
    const auto& best = group.rows[group.recommendation->best[i]];
    const auto comparison = best.values[i] == row.values[i] ? std::string("the best")
                                                            : fmt::format("best {}, at {}", value_of(report, best, i),
                                                                          split_number(best.configuration.trial));
    items.push_back(fmt::format("{} {} ({})", report.objectives[i].metric->name, value_of(report, row, i), comparison));
  }
  return fmt::format("{}", fmt::join(items, " and "));
}

/// "18.1 ms and 442 image/s"
std::string bare_values(const FrontierReport& report, const FrontierRow& row) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < report.objectives.size(); ++i) items.push_back(value_of(report, row, i));
  return fmt::format("{}", fmt::join(items, " and "));
}

std::string alternative_clause(const FrontierReport& report, const FrontierGroup& group, const FrontierRow& chosen) {
  const auto alternative = group.recommendation->alternative;
  if (!alternative) return chosen.is_endpoint() ? "; no cut was compared" : "; not splitting was not compared";
  const auto& other = group.rows[*alternative];
  const auto& trial = other.configuration.trial;
  const auto values = bare_values(report, other);
  if (!other.is_endpoint()) return fmt::format("; the best cut, {}, gives {}", split_number(trial), values);
  return fmt::format("; not splitting ({}) gives {}", trial.all_local() ? "all local" : "all remote", values);
}

std::string lower_first(std::string text) {
  text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

/// If a cut cannot be told from an endpoint, the verdict names both.
std::string hedged_verdict(const FrontierGroup& group, const FrontierRow& chosen) {
  auto text = verdict(chosen.configuration.trial);
  const auto other = group.recommendation->alternative;
  if (chosen.is_endpoint() || !other || !std::ranges::binary_search(chosen.alike, *other)) return text;
  return fmt::format("{}, or {}", text, lower_first(verdict(group.rows[*other].configuration.trial)));
}

/// The row that resampling picks most often instead of `chosen`; none where it never picks another.
const FrontierRow* rival_of(const FrontierGroup& group, const FrontierRow& chosen) {
  const FrontierRow* rival = nullptr;
  for (const auto& row : group.rows) {
    if (&row == &chosen || row.balanced_probability.value_or(0) == 0) continue;
    if (rival == nullptr || *row.balanced_probability > *rival->balanced_probability) rival = &row;
  }
  return rival;
}

std::string hedge(const FrontierGroup& group, const FrontierRow& chosen) {
  if (!chosen.balanced_probability) return "; one repetition cannot tell merit from noise";
  std::string text;
  const auto* rival = rival_of(group, chosen);
  if (rival != nullptr && *chosen.balanced_probability < kSure) {
    text +=
        fmt::format("; not sure: {} of the resamples pick it, {} pick {}", probability(*chosen.balanced_probability),
                    probability(*rival->balanced_probability), split_number(rival->configuration.trial));
  }
  if (!chosen.alike.empty()) {
    text += fmt::format("; the repetitions cannot tell it from {}", split_list(group, chosen.alike));
  }
  return text;
}

std::size_t count_compared(const FrontierGroup& group) {
  return static_cast<std::size_t>(
      std::count_if(group.rows.begin(), group.rows.end(), [](const FrontierRow& row) { return row.compared(); }));
}

/// The objectives that trials of only one phase can have.
std::string other_objectives(config::Phases phases) {
  std::vector<std::string> flags;
  for (const auto* metric : record::usual_objectives(phases))
    flags.push_back(fmt::format("--objective {}", metric->name));
  return fmt::format("{}", fmt::join(flags, " "));
}

std::string no_split(const FrontierReport& report, const FrontierGroup& group) {
  const auto phases = group.settings().phases;
  if (const auto lacking = unmeasured(report, group); !lacking.empty()) {
    return fmt::format("No split can be recommended: these trials were measured {}, which gives no {}; try {}.",
                       config::describe(phases), fmt::join(lacking, " and no "), other_objectives(phases));
  }
  std::vector<std::string> labels;
  for (const auto& constraint : report.options.constraints) labels.push_back(constraint.label());
  if (labels.empty()) return "No split can be recommended: none has all the objectives.";
  return fmt::format("No split can be recommended: none has all the objectives and keeps {}.",
                     fmt::join(labels, " and "));
}

std::string place_of(const FrontierReport& report, const NetworkFamily& family, const RobustCandidate& candidate) {
  return fmt::format("{} over {}", report.objectives[candidate.worst_objective].metric->name,
                     printable(report.groups[family.groups[candidate.worst_group]].settings().network.name));
}

const FrontierRow& row_of(const FrontierReport& report, const NetworkFamily& family, const RobustCandidate& candidate) {
  return report.groups[family.groups.front()].rows[candidate.rows.front()];
}

/// The costs of the endpoints, except one that was chosen.
std::string endpoint_clauses(const FrontierReport& report, const NetworkFamily& family) {
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

bool alike_everywhere(const FrontierReport& report, const NetworkFamily& family, const RobustCandidate& left,
                      const RobustCandidate& right) {
  for (std::size_t i = 0; i < family.groups.size(); ++i) {
    const auto& alike = report.groups[family.groups[i]].rows[left.rows[i]].alike;
    if (!std::binary_search(alike.begin(), alike.end(), right.rows[i])) return false;
  }
  return true;
}

std::string robust_hedge(const FrontierReport& report, const NetworkFamily& family) {
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

std::string headline(const FrontierReport& report, const FrontierGroup& group) {
  if (!group.recommendation) return no_split(report, group);
  const auto& chosen = group.rows[group.recommendation->balanced.option];
  if (count_compared(group) == 1) {
    return fmt::format("Nothing to choose from: only split {} was compared, with {}.",
                       split_label(chosen.configuration.trial), bare_values(report, chosen));
  }
  const bool best = group.recommendation->balanced.worst_regret == 0;
  return fmt::format("{}{}: {}{}{}.", hedged_verdict(group, chosen), best ? "" : ", as the best compromise",
                     values_with_best(report, group, chosen), alternative_clause(report, group, chosen),
                     hedge(group, chosen));
}

std::string robust_headline(const FrontierReport& report, const NetworkFamily& family) {
  std::vector<std::string> networks;
  for (const auto index : family.groups) networks.push_back(printable(report.groups[index].settings().network.name));
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

}  // namespace paretopipe::report
