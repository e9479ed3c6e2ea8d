#include "step_words.hpp"

#include <paretopipe/record/labels.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "diagnosis_words.hpp"

namespace paretopipe::render {

namespace {

using diagnosis::ConfigurationDiagnosis;
using diagnosis::GroupDiagnosis;

/// A part of less than this share of a step is not mentioned.
constexpr double kMentioned = 0.02;

const ConfigurationDiagnosis* best_of(const GroupDiagnosis& group, bool all_local) {
  const ConfigurationDiagnosis* best = nullptr;
  for (const auto& one : group.configurations) {
    if (!one.step || (all_local && !one.trial().all_local())) continue;
    if (best == nullptr || one.step->sample_per_s > best->step->sample_per_s) best = &one;
  }
  return best;
}

std::string name_of_row(const ConfigurationDiagnosis& one) {
  return record::printable(record::split_label(one.trial()));
}

std::string filling(const ConfigurationDiagnosis& one) {
  const auto& step = *one.step;
  if (step.filling_ns() < kMentioned * step.interval_ns()) return "";
  const auto count = one.trial().micro_batches();
  return fmt::format(
      "With {} micro-batch{} a step the schedule adds {}, in which the pipeline fills and drains: its bubble is {} if "
      "nothing takes time but computing. More micro-batches shrink it, as far as smaller ones do not compute slower.",
      count, count == 1 ? "" : "es", duration(step.filling_ns()), rounded_percent(step.expected_bubble));
}

std::string beyond(const ConfigurationDiagnosis& one) {
  const auto& step = *one.step;
  if (step.beyond_ns() < kMentioned * step.interval_ns()) return "";
  std::size_t most = 0;
  for (std::size_t i = 1; i < step.stages.size(); ++i) {
    if (step.stages[i].transfer_ns > step.stages[most].transfer_ns) most = i;
  }
  return fmt::format(
      "{} of a step is beyond that: tensors on their way, of which stage {} awaits {}, and stages that take unequally "
      "long from one micro-batch to the next.",
      duration(step.beyond_ns()), most, duration(step.stages[most].transfer_ns));
}

std::string against_single(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  const auto* single = best_of(group, true);
  if (single == nullptr || single == &one) return "";
  return fmt::format("One device that trains alone ({}) reaches {}: this is {} as fast.", name_of_row(*single),
                     rate(single->step->sample_per_s), times(one.step->sample_per_s / single->step->sample_per_s));
}

}  // namespace

std::string step_headline(const GroupDiagnosis&, const ConfigurationDiagnosis& one) {
  const auto& step = *one.step;
  return fmt::format("A step of {} samples takes {} ({}); its schedule could reach {} ({}).", step.batch,
                     duration(step.interval_ns()), rate(step.sample_per_s), rate(step.bound_sample_per_s),
                     rounded_percent(std::min(1.0, step.sample_per_s / step.bound_sample_per_s)));
}

std::vector<std::string> step_remarks(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  const auto& step = *one.step;
  const auto busiest = step.busiest();
  std::vector<std::string> all{
      fmt::format("Stage {} computes longest, {} of each step: with micro-batches without end that would be {}.",
                  busiest, duration(step.busy_ns(busiest)), rate(1e9 * step.batch / step.busy_ns(busiest))),
      filling(one), beyond(one), against_single(group, one)};
  std::erase_if(all, [](const auto& sentence) { return sentence.empty(); });
  return all;
}

std::string step_conclusion(const GroupDiagnosis& group) {
  const auto* best = best_of(group, false);
  const auto* single = best_of(group, true);
  auto text =
      fmt::format("The most samples a second are {}, by {}.", rate(best->step->sample_per_s), name_of_row(*best));
  if (single == nullptr) return text + " One device that trains alone was not measured.";
  if (single == best) return text + " No cut is faster than one device that trains alone.";
  return fmt::format("{} That is {} one device that trains alone, {}.", text,
                     times(best->step->sample_per_s / single->step->sample_per_s), rate(single->step->sample_per_s));
}

std::vector<Table::Column> step_columns(const ConfigurationDiagnosis& one) {
  std::vector<Table::Column> columns{{"a step", Align::left}};
  for (std::size_t i = 0; i < one.step->stages.size(); ++i)
    columns.push_back({fmt::format("stage {}", i), Align::right});
  return columns;
}

std::vector<std::vector<std::string>> step_rows(const ConfigurationDiagnosis& one) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t part = 0; part < record::kStepParts.size(); ++part) {
    auto& row = rows.emplace_back(1, std::string(record::kStepPartNames[part]));
    for (const auto& stage : one.step->stages) row.push_back(duration(stage.*record::kStepParts[part]));
  }
  return rows;
}

}  // namespace paretopipe::render
