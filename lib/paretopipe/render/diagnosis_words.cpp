#include "diagnosis_words.hpp"

#include <paretopipe/record/labels.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontier_words.hpp"

namespace paretopipe::render {

std::string name_of(const diagnosis::Constraint& constraint) {
  switch (constraint.kind) {
    case diagnosis::Kind::compute:
      return fmt::format("compute of stage {}", constraint.stage);
    case diagnosis::Kind::codec:
      return fmt::format("the codec at stage {}", constraint.stage);
    case diagnosis::Kind::link:
      return fmt::format("the link from stage {} to stage {}", constraint.stage, constraint.stage + 1);
    case diagnosis::Kind::way_back:
      return fmt::format("the way back from stage {} to stage 0", constraint.stage);
    case diagnosis::Kind::source:
      return "the source";
    case diagnosis::Kind::depth:
      break;
  }
  return "the number of batches in flight";
}

std::string duration(double nanoseconds) {
  return record::format_value(nanoseconds, "ns");
}

std::string rate(double image_per_s) {
  return record::format_value(image_per_s, "image/s");
}

std::string bytes(double count) {
  return record::format_value(count, "B");
}

std::string times(double factor) {
  return fmt::format("{:.2f} times", factor);
}

std::string numbered(int block, const diagnosis::GroupDiagnosis& group) {
  const auto found = group.block_names.find(block);
  return found == group.block_names.end() ? std::to_string(block) : fmt::format("{} ({})", block, found->second);
}

std::string way_to_cut(const experiment::Trial& trial, const diagnosis::GroupDiagnosis& group) {
  if (trial.all_local()) return "not splitting";
  if (trial.all_remote()) {
    const int farthest = experiment::farthest_stage(trial.placement, trial.stage_count());
    return farthest + 1 == trial.stage_count() ? "leaving all to the last stage"
                                               : fmt::format("leaving all to stage {}", farthest);
  }
  std::vector<std::string> cuts;
  for (const int block : trial.split_points) cuts.push_back(numbered(block, group));
  if (cuts.size() == 1) return "a cut after block " + cuts.front();
  const auto last = std::move(cuts.back());
  cuts.pop_back();
  return fmt::format("cuts after blocks {} and {}", fmt::join(cuts, ", "), last);
}

namespace {

/// Smaller differences in compute are not mentioned: measurements scatter by as much.
constexpr double kNotableDifference = 0.05;
/// Parts of the latency that change by less than this share of it are left out.
constexpr double kNegligible = 0.01;

double compute_ns(const diagnosis::Demands& demands) {
  double sum = 0;
  for (const auto& stage : demands.stages) sum += stage.busy.mean_ns;
  return sum;
}

double median_throughput(const diagnosis::ConfigurationDiagnosis& measured) {
  return *measured.configuration.median(record::find_metric("throughput"));
}

/// The demands of the all-local baseline; null if it was not measured or is `one`.
const diagnosis::Demands* local_demands(const diagnosis::GroupDiagnosis& group,
                                        const diagnosis::ConfigurationDiagnosis& one) {
  const auto* local = group.all_local();
  return local == nullptr || local == &one ? nullptr : &*local->demands;
}

}  // namespace

std::string times_all_local(const diagnosis::GroupDiagnosis& group, double image_per_s) {
  const auto* local = group.all_local();
  if (local == nullptr) return "";
  const double alone = local->demands->throughput_image_per_s;
  return fmt::format("{} not splitting ({})", times(image_per_s / alone), rate(alone));
}

std::string limits(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one) {
  const auto* local = local_demands(group, one);
  const auto& stages = one.demands->stages;
  const auto& slowest = one.demands->slowest_stage();
  const double slowest_ns = slowest.busy.mean_ns;
  if (local == nullptr || slowest_ns <= 0 || local->period_ns() <= 0) return "";
  const auto& bottleneck = one.bounds.front();
  auto text = fmt::format(
      "{0} stages that shared the work evenly would make it {0} times as fast as not splitting; stage {1} has {2} of "
      "the compute, which allows {3}",
      stages.size(), &slowest - stages.data(), percent(slowest_ns / compute_ns(*one.demands)),
      times(local->period_ns() / slowest_ns));
  if (bottleneck.kind == diagnosis::Kind::compute) return fmt::format("{}.", text);
  return fmt::format("{}, and {} only {}.", text, name_of(bottleneck),
                     times(local->period_ns() / bottleneck.period_ns));
}

std::string compute_growth(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one) {
  const auto* local = local_demands(group, one);
  if (local == nullptr) return "";
  const double alone = compute_ns(*local), cut = compute_ns(*one.demands);
  if (alone <= 0 || std::abs(cut / alone - 1) < kNotableDifference) return "";
  return fmt::format("Cut, the model computes for {} a batch in all, {} {} than whole ({}).", duration(cut),
                     percent(std::abs(cut / alone - 1)), cut > alone ? "longer" : "shorter", duration(alone));
}

std::string latency(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one) {
  const auto* baseline = local_demands(group, one);
  if (baseline == nullptr) return "";
  const auto& local = baseline->idle;
  const auto& split = one.demands->idle;
  std::vector<std::string> parts;
  const auto add = [&](double ns, std::string_view what) {
    if (std::abs(ns) < kNegligible * split.total_ns()) return;
    parts.push_back(fmt::format("{} {} {}", duration(std::abs(ns)), ns < 0 ? "less" : "more", what));
  };
  add(split.transfer_ns - local.transfer_ns, "transfer");
  add(split.compute_ns - local.compute_ns, "compute");
  add(split.other_ns + split.coding_ns - local.other_ns - local.coding_ns, "waiting and coding");
  return fmt::format("Its mean latency with one batch in flight is {} against {}{}{}.", duration(split.total_ns()),
                     duration(local.total_ns()), parts.empty() ? "" : ": ", fmt::join(parts, ", "));
}

std::string against_data_parallel(const diagnosis::GroupDiagnosis& group,
                                  const diagnosis::ConfigurationDiagnosis& one) {
  const auto* baseline = group.data_parallel();
  if (baseline == nullptr) return "";
  const double throughput = median_throughput(*baseline);
  return fmt::format("The whole model on each of {} devices, batches dealt out in turn, gives {}; this is {} as fast.",
                     baseline->trial().data_parallel, rate(throughput),
                     times(one.demands->throughput_image_per_s / throughput));
}

std::string against_sequential(const diagnosis::ConfigurationDiagnosis& one) {
  const auto& demands = *one.demands;
  const auto sequential = demands.sequential_image_per_s();
  if (demands.in_flight == 1 || !sequential) return "";
  return fmt::format("With one batch in flight it gives {}; {} in flight make that {}.", rate(*sequential),
                     demands.in_flight, times(demands.throughput_image_per_s / *sequential));
}

std::string data_parallel_headline(const diagnosis::GroupDiagnosis& group,
                                   const diagnosis::ConfigurationDiagnosis& one) {
  const double throughput = median_throughput(one);
  const auto factor = times_all_local(group, throughput);
  return fmt::format("The whole model on each of {} devices, batches dealt out in turn, reached {}{}{}.",
                     one.trial().data_parallel, rate(throughput), factor.empty() ? "" : ", ", factor);
}

std::vector<std::string> data_parallel_remarks(const diagnosis::ConfigurationDiagnosis& one) {
  const auto& trial = one.trial();
  std::vector<std::string> sentences{
      fmt::format("Its mean latency with one batch in flight is {}, over all devices.",
                  duration(*one.configuration.median(record::find_metric("latency_mean"))))};
  if (trial.depth < trial.data_parallel) {
    sentences.push_back(
        fmt::format("With {} in flight no more than {} of its devices work at a time.", trial.depth, trial.depth));
  }
  sentences.emplace_back(
      "Its bottleneck is not diagnosed: it is a baseline, whose batches do not pass from stage to stage.");
  return sentences;
}

namespace {

using diagnosis::ConfigurationDiagnosis;
using diagnosis::GroupDiagnosis;

/// A part of less than this share of a step is not mentioned.
constexpr double kMentioned = 0.02;

/// The one that trains the most samples a second, of those whose trial is `wanted`; null if there is none.
template <class Wanted>
const ConfigurationDiagnosis* best_of(const GroupDiagnosis& group, Wanted wanted) {
  const ConfigurationDiagnosis* best = nullptr;
  for (const auto& one : group.configurations) {
    if (!one.step || !std::invoke(wanted, one.trial())) continue;
    if (best == nullptr || one.step->sample_per_s > best->step->sample_per_s) best = &one;
  }
  return best;
}

std::string name_of_row(const ConfigurationDiagnosis& one) {
  return record::printable(record::split_label(one.trial()));
}

std::string too_few_steps(const ConfigurationDiagnosis& one) {
  if (one.step->reached() <= kBeyond) return "";
  return "The steps took less time than the medians of the stages' times allow: too few were measured to compare with "
         "the bound. Measure more (--steps).";
}

std::string filling(const ConfigurationDiagnosis& one) {
  const auto& step = *one.step;
  if (one.trial().data_parallel > 0) return "";  // replicas wait for each other only to add up gradients
  if (step.filling_ns() < kMentioned * step.interval_ns()) return "";
  const auto count = one.trial().micro_batches();
  return fmt::format(
      "With {} micro-batch{} a step the schedule adds {}, in which the pipeline fills and drains: its bubble is {} if "
      "nothing takes time but computing. More micro-batches shrink it, as far as smaller ones do not compute slower.",
      count, count == 1 ? "" : "es", duration(step.filling_ns()), percent(step.expected_bubble));
}

std::string beyond(const ConfigurationDiagnosis& one) {
  const auto& step = *one.step;
  if (one.trial().data_parallel > 0 || step.beyond_ns() < kMentioned * step.interval_ns()) return "";
  const auto awaited_ns = [](const record::StepParts& stage) {
    return stage.encode_ns + stage.transfer_ns + stage.decode_ns;
  };
  const auto most = std::ranges::max_element(step.stages, {}, awaited_ns);
  return fmt::format(
      "{} of a step is beyond that: tensors on their way{}, of which stage {} awaits {}, and stages that take "
      "unequally long from one micro-batch to the next.",
      duration(step.beyond_ns()), one.trial().codec == codec::kNone ? "" : ", with their codec",
      most - step.stages.begin(), duration(awaited_ns(*most)));
}

/// Stages wait for what is encoded and decoded beside computing.
std::string coding(const ConfigurationDiagnosis& one) {
  if (one.trial().codec == codec::kNone) return "";
  const auto& step = *one.step;
  double encode = 0, decode = 0;
  for (const auto& stage : step.stages) {
    encode += stage.encode_ns;
    decode += stage.decode_ns;
  }
  auto text = fmt::format(
      "Over all stages, {} of a step are spent waiting for the codec {} to encode, and {} for it to decode.",
      duration(encode), one.trial().codec, duration(decode));
  if (!step.uncompressed_loss) return text;
  return fmt::format(
      "{} It changes what is learned: the last loss is {:.4f}, and {:.4f} without it. Weights were not compared.", text,
      step.last_loss, *step.uncompressed_loss);
}

std::string other_clocks(const ConfigurationDiagnosis& one) {
  if (one.step->step_error_ns <= 0) return "";
  return fmt::format(
      "A step may take up to {} more or less than that: it ends on the clock of another host, of which the frames of "
      "activations and gradients say no more.",
      duration(one.step->step_error_ns));
}

std::string adding_up(const ConfigurationDiagnosis& one) {
  const auto& stages = one.step->stages;
  if (one.trial().data_parallel == 0) return "";
  const auto waits_longest = std::ranges::max_element(stages, {}, &record::StepParts::waiting_ns);
  return fmt::format(
      "{} of each step adds up the gradients of all {} devices, once they have them (all-reduce); until then device {} "
      "waits longest, {}.",
      duration(stages.front().all_reduce_ns), one.trial().data_parallel, waits_longest - stages.begin(),
      duration(waits_longest->waiting_ns));
}

std::string against(const ConfigurationDiagnosis& one, const ConfigurationDiagnosis* baseline, const char* what) {
  if (baseline == nullptr || baseline == &one) return "";
  return fmt::format("{} ({}) {} {}: this is {} as fast.", what, name_of_row(*baseline),
                     baseline->trial().data_parallel > 0 ? "reach" : "reaches", rate(baseline->step->sample_per_s),
                     times(one.step->sample_per_s / baseline->step->sample_per_s));
}

}  // namespace

std::string step_headline(const ConfigurationDiagnosis& one) {
  const auto& step = *one.step;
  return fmt::format("A step of {} samples takes {} ({}); its schedule could reach {}{}.", step.batch,
                     duration(step.interval_ns()), rate(step.sample_per_s), rate(step.bound_sample_per_s),
                     step.reached() > kBeyond ? "" : fmt::format(" ({})", percent(std::min(1.0, step.reached()))));
}

std::vector<std::string> step_remarks(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  const auto& step = *one.step;
  const auto busiest = step.busiest();
  std::vector<std::string> all{
      fmt::format("Stage {} computes longest, {} of each step: with micro-batches without end that would be {}.",
                  busiest, duration(step.busy_ns(busiest)), rate(1e9 * step.batch / step.busy_ns(busiest))),
      too_few_steps(one),
      other_clocks(one),
      filling(one),
      beyond(one),
      coding(one),
      adding_up(one),
      against(one, best_of(group, &experiment::Trial::all_local), "One device that trains alone")};
  if (one.trial().data_parallel == 0) {
    const auto* replicas = best_of(group, [](const auto& trial) { return trial.data_parallel > 0; });
    all.push_back(against(one, replicas, "Replicas on as many devices"));
  }
  std::erase_if(all, [](const auto& sentence) { return sentence.empty(); });
  return all;
}

std::string step_conclusion(const GroupDiagnosis& group) {
  const auto* best = best_of(group, [](const auto&) { return true; });
  const auto* single = best_of(group, &experiment::Trial::all_local);
  auto text =
      fmt::format("The most samples a second are {}, by {}.", rate(best->step->sample_per_s), name_of_row(*best));
  if (single == nullptr) return text + " One device that trains alone was not measured.";
  if (single == best) return text + " No cut is faster than one device that trains alone.";
  return fmt::format("{} That is {} one device that trains alone, {}.", text,
                     times(best->step->sample_per_s / single->step->sample_per_s), rate(single->step->sample_per_s));
}

Table step_table(const ConfigurationDiagnosis& one) {
  std::vector<Table::Column> columns{{"a step"}};
  for (std::size_t i = 0; i < one.step->stages.size(); ++i) {
    columns.push_back({fmt::format("stage {}", i), Align::right});
  }
  Table table(std::move(columns));
  for (std::size_t part = 0; part < record::kStepParts.size(); ++part) {
    const auto time = record::kStepParts[part];
    const bool codec = time == &record::StepParts::encode_ns || time == &record::StepParts::decode_ns;
    if (codec && one.trial().codec == codec::kNone) continue;
    if (time == &record::StepParts::all_reduce_ns && one.trial().data_parallel == 0) continue;
    std::vector<std::string> row{std::string(record::kStepPartNames[part])};
    for (const auto& stage : one.step->stages) row.push_back(duration(stage.*time));
    table.add_row(std::move(row));
  }
  return table;
}

}  // namespace paretopipe::render
