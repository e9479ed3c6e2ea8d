#include <paretopipe/record/labels.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontier_words.hpp"

namespace paretopipe::render {

namespace {

constexpr std::size_t kEnoughRepetitions = 6;  ///< from here on coverage_bound() allows 95 %

struct Range {
  std::size_t fewest = 0;
  std::size_t most = 0;
};

Range repetitions_behind_intervals(const frontier::FrontierGroup& group) {
  Range range;
  for (const auto& row : group.rows) {
    if (!row.frontier_probability) continue;
    const auto repetitions = row.configuration.ok.size();
    range.fewest = range.most == 0 ? repetitions : std::min(range.fewest, repetitions);
    range.most = std::max(range.most, repetitions);
  }
  return range;
}

}  // namespace

std::string members_sentence(const frontier::FrontierReport& report, const frontier::FrontierGroup& group) {
  std::vector<std::string> objectives;
  for (const auto& objective : report.objectives) objectives.push_back(objective.label());
  std::vector<std::size_t> members;
  const auto splits = std::ranges::count_if(group.rows, &frontier::FrontierRow::is_split);
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    if (group.rows[i].on_frontier) members.push_back(i);
  }
  if (members.empty()) return "No split was compared: there is no frontier.";
  return fmt::format("{} of {} split{} {} on the frontier of {}: {}.", members.size(), splits, splits == 1 ? "" : "s",
                     members.size() == 1 ? "is" : "are", fmt::join(objectives, " and "), split_list(group, members));
}

std::string volume_sentence(const frontier::FrontierReport& report, const frontier::FrontierGroup& group) {
  if (!group.hypervolume || !group.hypervolume->share) return "";
  std::vector<std::string> values;
  for (std::size_t i = 0; i < report.objectives.size(); ++i) {
    const auto& metric = *report.objectives[i].metric;
    const bool given = !report.options.reference.empty() && report.options.reference[i];
    values.push_back(fmt::format("{} {} ({})", metric.name, record::format_value(group.reference[i], metric.unit),
                                 given ? "as given" : "the worst"));
  }
  return fmt::format("Hypervolume: {} of the box from the best of each objective to the reference {}.",
                     percent(*group.hypervolume->share), fmt::join(values, ", "));
}

std::string codec_sentence(const frontier::FrontierGroup& group) {
  constexpr std::size_t kNamed = 5;
  std::vector<const frontier::FrontierRow*> changing;
  for (const auto& row : group.rows) {
    if (row.on_frontier && row.top1_kept && *row.top1_kept < 1) changing.push_back(&row);
  }
  if (changing.empty()) return "";
  std::ranges::stable_sort(changing, {}, &frontier::FrontierRow::top1_kept);
  std::vector<std::string> worst;
  for (std::size_t i = 0; i < std::min(kNamed, changing.size()); ++i) {
    worst.push_back(
        fmt::format("{} {}", record::cut_name(changing[i]->configuration.trial), percent(*changing[i]->top1_kept)));
  }
  const auto others = changing.size() - worst.size();
  return fmt::format(
      "Codecs change what the model says. The share of samples that keep their class, least first: {}{}.",
      fmt::join(worst, ", "), others == 0 ? "" : fmt::format(", and {} more on the frontier", others));
}

std::string accuracy_sentence(const frontier::FrontierGroup& group) {
  std::vector<double> found;
  for (const auto& row : group.rows) {
    if (const auto accuracy = row.configuration.median(record::find_metric("top1_accuracy")))
      found.push_back(*accuracy);
  }
  if (found.empty()) return "";
  const auto [least, most] = std::minmax_element(found.begin(), found.end());
  const auto range = *least == *most ? "" : fmt::format("{:.4g} to ", 100 * *least);
  return fmt::format("Top-1 accuracy against the labels: {}{:.4g} %.", range, 100 * *most);
}

std::string incidents_sentence(const frontier::FrontierGroup& group) {
  const auto summary = frontier::summarise(group.incidents);
  return summary.empty() ? "" : fmt::format("Disturbances (paretopipe report lists them): {}.", summary);
}

std::vector<std::string> legend(const frontier::FrontierReport& report, const frontier::FrontierGroup& group) {
  if (!group.recommendation) return {};  // no row was compared, as the headline explains
  const auto [fewest, most] = repetitions_behind_intervals(group);
  if (most == 0) return {"One repetition a split: nothing tells merit from noise; sweep with --repeat 6 or more."};
  const auto range = fewest == most ? fmt::format("{}", fewest) : fmt::format("{} to {}", fewest, most);
  std::vector<std::string> sentences{
      fmt::format("95 %: bootstrap interval of the median of {} repetitions, {} resamples, seed {}.", range,
                  stats::kResamples, report.options.seed),
      "P: share of the resamples in which the split is on the frontier."};
  const auto has_alike = [](const frontier::FrontierRow& row) { return !row.alike.empty(); };
  if (std::any_of(group.rows.begin(), group.rows.end(), has_alike)) {
    sentences.emplace_back("like: splits that differ from it by more than noise in no objective.");
  }
  if (fewest < kEnoughRepetitions) {
    sentences.push_back(fmt::format("An interval of {} repetitions covers the true median in at most {:.3g} %.", fewest,
                                    100 * stats::coverage_bound(fewest)));
  }
  return sentences;
}

std::string speed_up_sentence(const frontier::FrontierGroup& group) {
  const auto phases = group.settings().phases;
  const bool trains = phases == experiment::Phases::training;
  if (!trains && !experiment::has_offline(phases)) {
    return fmt::format("Speed-ups over baselines are left out: they compare throughput, and this is {}.",
                       experiment::describe(phases));
  }
  std::vector<std::string> baselines;
  const auto add = [&](std::optional<double> frontier::SpeedUps::*baseline, const char* heading, const char* meaning) {
    const auto has_it = [&](const frontier::FrontierRow& row) { return (row.speed_ups.*baseline).has_value(); };
    if (std::any_of(group.rows.begin(), group.rows.end(), has_it)) {
      baselines.push_back(fmt::format("{}: {}", heading, meaning));
    }
  };
  add(&frontier::SpeedUps::single, "x single", "times the whole model's on one device (all local)");
  add(&frontier::SpeedUps::sequential, "x sequential", "times that of the same stages with one batch in flight");
  add(&frontier::SpeedUps::data_parallel, "x data-parallel",
      trains ? "times that of replicas on as many devices, which share a step's micro-batches and add up gradients"
             : "times the whole model's on as many devices, batches dealt out in turn");
  if (!trains && !experiment::has_single_stream(phases)) {
    baselines.push_back(fmt::format("x sequential is left out, for this is {}", experiment::describe(phases)));
  }
  if (baselines.empty()) return "";
  return fmt::format("{} over baselines{}: {}.", trains ? "Samples a second" : "Throughput",
                     trains ? " with the same schedule and micro-batches" : "", fmt::join(baselines, "; "));
}

std::vector<std::string> remarks(const frontier::FrontierReport& report, const frontier::FrontierGroup& group) {
  std::vector<std::string> sentences;
  for (const auto& row : group.rows) {
    const auto& configuration = row.configuration;
    for (const auto& failure : row.failures) {
      sentences.push_back(fmt::format("{} failed in {} of {} repetitions: {}", record::split_name(configuration.trial),
                                      configuration.failed.size(), configuration.count(), record::printable(failure)));
    }
    for (const auto& deviation : row.deviations) {
      sentences.push_back(fmt::format("{} does not count in {} of {} repetitions: {}",
                                      record::split_name(configuration.trial), configuration.invalid.size(),
                                      configuration.count(), record::printable(deviation)));
    }
    if (!row.violations.empty()) {
      sentences.push_back(
          fmt::format("{} is excluded: {}", record::split_name(configuration.trial), fmt::join(row.violations, "; ")));
    }
    if (configuration.ok.empty() || row.complete()) continue;
    std::vector<std::string> lacking;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const auto& metric = *report.objectives[i].metric;
      if (!row.values[i] && metric.measured_by(configuration.trial.phases)) lacking.emplace_back(metric.name);
    }
    if (lacking.empty()) continue;  // the headline says which phase was not measured
    sentences.push_back(fmt::format("{} has no {} and was not compared", record::split_name(configuration.trial),
                                    fmt::join(lacking, ", ")));
  }
  return sentences;
}

std::vector<std::string> recommended_for(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                                         std::size_t row) {
  std::vector<std::string> purposes;
  if (!group.recommendation) return purposes;
  const auto& recommendation = *group.recommendation;
  for (std::size_t i = 0; i < report.objectives.size(); ++i) {
    if (recommendation.best[i] == row) purposes.push_back(superlative(report.objectives[i]));
  }
  if (recommendation.balanced.option == row) purposes.emplace_back("balanced");
  if (recommendation.knee == row) purposes.emplace_back("knee");
  for (const auto& family : report.families) {
    if (!family.robust) continue;
    const auto& rows = family.candidates[*family.robust].rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (&report.groups[family.groups[i]] == &group && rows[i] == row) purposes.emplace_back("robust");
    }
  }
  return purposes;
}

}  // namespace paretopipe::render
