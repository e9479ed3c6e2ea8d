#include "wording.hpp"

#include <paretopipe/report/format.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>  // fmt::join, from fmt 11 on

namespace paretopipe::compare {
namespace {

std::string measured_change(const Change& change) {
  const auto unit = change.metric->unit;
  auto text = std::string(change.metric->name);
  if (change.base_median) {
    text += fmt::format(" went from {} to {}", report::format_value(*change.base_median, unit),
                        report::format_value(*change.new_median, unit));
  }
  if (!change.ratio) return text;
  text += fmt::format("{} {}", change.base_median ? "," : " changed by", percent_of(*change.ratio));
  if (change.interval) {
    text +=
        fmt::format(" (95 % interval {} to {})", percent_of(change.interval->low), percent_of(change.interval->high));
  }
  return text;
}

std::string why_too_few(const Change& change) {
  if (!change.measured()) return fmt::format("neither side has {}", change.metric->name);
  if (change.base_count == 0) return fmt::format("the base has no {}", change.metric->name);
  if (change.new_count == 0) return fmt::format("the new records have no {}", change.metric->name);
  const auto repetitions = change.paired
                               ? fmt::format("{} side by side", report::quantity(change.base_count, "repetition"))
                               : fmt::format("{} repetitions against {}", change.base_count, change.new_count);
  return fmt::format("{}; {} are too few to tell that from noise{}: it takes {}", measured_change(change), repetitions,
                     change.checks == 1 ? "" : fmt::format(" in {} checks", change.checks), change.repetitions_needed);
}

/// The p-value as measured and as corrected.
std::string p_value_of(const Change& change) {
  const auto text = fmt::format("p = {:.2g}", *change.p_value);
  if (change.checks == 1) return text;
  return fmt::format("{} ({:.2g} corrected for {} checks)", text, *change.corrected_p, change.checks);
}

std::size_t count_together(const Comparison& comparison, Verdict verdict) {
  const auto& all = comparison.together;
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const auto& change) { return change && change->verdict == verdict; }));
}

/// True if the two sides were measured on different machines, in whatever order. A side without machines (none of its
/// records counts) differs from none.
bool different_machines(const Comparison& comparison) {
  auto base = comparison.base_machines, now = comparison.new_machines;
  std::sort(base.begin(), base.end());
  std::sort(now.begin(), now.end());
  return !base.empty() && !now.empty() && base != now;
}

std::size_t count(const Comparison& comparison, Verdict verdict) {
  std::size_t found = 0;
  for (const auto& configuration : comparison.configurations) {
    for (const auto& change : configuration.changes) found += change.verdict == verdict ? 1 : 0;
  }
  return found;
}

void note_one_sided(std::vector<std::string>& sentences, const std::vector<plan::Trial>& trials,
                    const std::string& name) {
  for (const auto& trial : trials) {
    sentences.push_back(fmt::format("only in {}: {}", report::printable(name), describe(trial)));
  }
}

void note_lacking_repetitions(std::vector<std::string>& sentences, const plan::Trial& trial,
                              const Repetitions& repetitions, const std::string& name) {
  const auto lacking = repetitions.failed + repetitions.invalid;
  if (lacking == 0) return;
  sentences.push_back(fmt::format("{} of {} {} not count in {}: {}", lacking,
                                  report::quantity(lacking + repetitions.ok, "repetition"),
                                  lacking == 1 ? "does" : "do", report::printable(name), describe(trial)));
}

/// Notes the metrics of a phase that none of the trials has.
void note_unmeasured(std::vector<std::string>& sentences, const Comparison& comparison) {
  for (const auto* metric : comparison.request.metrics) {
    const auto& all = comparison.configurations;
    const bool any =
        std::any_of(all.begin(), all.end(), [&](const auto& one) { return metric->measured_by(one.trial.phases); });
    if (any) continue;
    sentences.push_back(fmt::format("{} was not measured: the trials are {}", metric->name,
                                    config::describe(all.front().trial.phases)));
  }
}

}  // namespace

std::string percent_of(double ratio) {
  const double percent = (ratio - 1) * 100;
  if (std::abs(percent) < 0.0005) return "0.0 %";
  return std::abs(percent) < 0.05 ? fmt::format("{:+.3f} %", percent) : fmt::format("{:+.1f} %", percent);
}

std::string to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::better:
      return "better";
    case Verdict::worse:
      return "worse";
    case Verdict::no_change:
      return "no change";
    case Verdict::too_few:
      return "too few repetitions";
    case Verdict::lost:
      return "lost";
  }
  return "";
}

std::string to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::held:
      return "held";
    case Outcome::broken:
      return "broken";
    case Outcome::undecided:
      return "undecided";
  }
  return "";
}

std::string describe(const plan::Trial& trial) {
  return report::printable(fmt::format("{}, {}", report::group_title(trial), report::split_name(trial)));
}

std::string explain(const Rule& rule, const Change& change) {
  if (change.verdict == Verdict::lost) return "not one of the new repetitions succeeded";
  if (change.verdict == Verdict::too_few) return why_too_few(change);
  const auto test = fmt::format("{}, {}", measured_change(change), p_value_of(change));
  if (apply(rule, change) == Outcome::broken) return fmt::format("{}: past the threshold and beyond noise", test);
  return fmt::format("{}: {}", test, change.beyond_noise() ? "not past the threshold" : "no change beyond noise");
}

std::string conclusion(const Comparison& comparison) {
  if (comparison.request.rules.empty()) {
    const auto lost = count(comparison, Verdict::lost);
    return fmt::format(
        "{} worse and {} better, beyond noise, in {}{}{}; no rule was given.", count(comparison, Verdict::worse),
        count(comparison, Verdict::better), report::quantity(comparison.configurations.size(), "configuration"),
        lost == 0 ? "" : fmt::format(", and {} without a new result", lost),
        comparison.configurations.size() < 2
            ? ""
            : fmt::format("; {} worse and {} better in all of them together",
                          count_together(comparison, Verdict::worse), count_together(comparison, Verdict::better)));
  }
  const auto broken = comparison.count(Outcome::broken);
  const auto undecided = comparison.count(Outcome::undecided);
  const auto checks = broken + undecided + comparison.count(Outcome::held);
  const auto* verdict = broken > 0 ? "Regression" : comparison.regression() ? "Not passed" : "No regression";
  auto text = fmt::format("{}: {} of {} {} broken", verdict, broken, report::quantity(checks, "check"),
                          broken == 1 || checks == 1 ? "is" : "are");
  if (undecided > 0) text += fmt::format(", {} could not be decided", undecided);
  if (const auto missing = comparison.only_base.size(); missing > 0) {
    text += fmt::format(", {} of the base {} not measured again", report::quantity(missing, "configuration"),
                        missing == 1 ? "was" : "were");
  }
  return text + '.';
}

std::vector<std::string> notes(const Comparison& comparison) {
  std::vector<std::string> sentences;
  if (comparison.paired) {
    sentences.emplace_back("both sides were measured in turns, so repetitions are compared pair by pair");
  }
  if (different_machines(comparison)) {
    sentences.push_back(report::printable(
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

}  // namespace paretopipe::compare
