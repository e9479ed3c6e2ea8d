#include "baseline.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "words.hpp"

namespace paretopipe::diagnosis {
namespace {

/// Differences of compute below this are not spoken of: measurements scatter by as much.
constexpr double kNotableDifference = 0.05;
/// Parts of the latency that change by less than this share of it are left out.
constexpr double kNegligible = 0.01;

double compute_ns(const Demands& demands) {
  double sum = 0;
  for (const auto& stage : demands.stages) sum += stage.busy.mean_ns;
  return sum;
}

double median_throughput(const ConfigurationDiagnosis& measured) {
  return *measured.configuration.median(record::find_metric("throughput"));
}

std::string speed_up(const Demands& local, const Demands& split) {
  const double factor = split.throughput_image_per_s / local.throughput_image_per_s;
  return fmt::format("Not splitting gives {}, so this is {} as fast.", rate(local.throughput_image_per_s),
                     times(factor));
}

std::string limits(const Demands& local, const ConfigurationDiagnosis& one) {
  const auto& split = *one.demands;
  const auto slowest = std::max_element(split.stages.begin(), split.stages.end(),
                                        [](const auto& a, const auto& b) { return a.busy.mean_ns < b.busy.mean_ns; });
  const double whole = compute_ns(split);
  if (slowest->busy.mean_ns <= 0 || local.period_ns() <= 0) return "";
  const auto& bottleneck = one.bounds.front();
  auto text = fmt::format(
      "{} stages that shared the work evenly would make it {} times as fast; here stage {} has "
      "{} of the compute, which allows {}",
      split.stages.size(), split.stages.size(), slowest - split.stages.begin(), percent(slowest->busy.mean_ns / whole),
      times(local.period_ns() / slowest->busy.mean_ns));
  if (bottleneck.kind == Kind::compute) return fmt::format("{}.", text);
  return fmt::format("{}, and {} only {}.", text, name_of(bottleneck), times(local.period_ns() / bottleneck.period_ns));
}

std::string compute_growth(const Demands& local, const Demands& split) {
  const double alone = compute_ns(local), cut = compute_ns(split);
  if (alone <= 0 || std::abs(cut / alone - 1) < kNotableDifference) return "";
  return fmt::format("Cut, the model computes for {} a batch in all, {} {} than whole ({}).", duration(cut),
                     percent(std::abs(cut / alone - 1)), cut > alone ? "longer" : "shorter", duration(alone));
}

std::string latency(const IdleLatency& local, const IdleLatency& split) {
  std::vector<std::string> parts;
  const auto add = [&](double ns, std::string_view what) {
    if (std::abs(ns) < kNegligible * split.total_ns()) return;
    parts.push_back(fmt::format("{} {} {}", duration(std::abs(ns)), ns < 0 ? "less" : "more", what));
  };
  add(split.transfer_ns - local.transfer_ns, "transfer");
  add(split.compute_ns - local.compute_ns, "compute");
  add(split.other_ns - local.other_ns, "waiting and coding");
  return fmt::format("Its mean latency with one batch in flight is {} against {}{}{}.", duration(split.total_ns()),
                     duration(local.total_ns()), parts.empty() ? "" : ": ", fmt::join(parts, ", "));
}

}  // namespace

std::vector<std::string> against_all_local(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  const auto* local = group.all_local();
  if (local == nullptr || local == &one) return {};
  std::vector<std::string> sentences;
  for (auto& sentence :
       {speed_up(*local->demands, *one.demands), limits(*local->demands, one),
        compute_growth(*local->demands, *one.demands), latency(local->demands->idle, one.demands->idle)}) {
    if (!sentence.empty()) sentences.push_back(sentence);
  }
  return sentences;
}

std::string against_data_parallel(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  const auto* baseline = group.data_parallel();
  if (baseline == nullptr) return "";
  const double throughput = median_throughput(*baseline);
  return fmt::format("The whole model on each of {} devices, batches dealt out in turn, gives {}; this is {} as fast.",
                     baseline->trial().data_parallel, rate(throughput),
                     times(one.demands->throughput_image_per_s / throughput));
}

std::vector<std::string> describe_data_parallel(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  const auto& trial = one.trial();
  std::vector<std::string> sentences{fmt::format(
      "The whole model on each of {} devices, batches dealt out in turn, gives {}. Its mean latency with one "
      "batch in flight is {}, over all devices.",
      trial.data_parallel, rate(median_throughput(one)),
      duration(*one.configuration.median(record::find_metric("latency_mean"))))};
  if (const auto* local = group.all_local()) {
    sentences.push_back(fmt::format("One device alone gives {}, so this is {} as fast.",
                                    rate(local->demands->throughput_image_per_s),
                                    times(median_throughput(one) / local->demands->throughput_image_per_s)));
  }
  if (trial.depth < trial.data_parallel) {
    sentences.push_back(
        fmt::format("With {} in flight no more than {} of its devices work at a time.", trial.depth, trial.depth));
  }
  sentences.emplace_back(
      "What bounds it is not diagnosed, for its batches pass no stages one after the other: it is a baseline.");
  return sentences;
}

std::string against_sequential(const ConfigurationDiagnosis& one) {
  const auto& demands = *one.demands;
  const auto sequential = demands.sequential_image_per_s();
  if (demands.in_flight == 1 || !sequential) return "";
  return fmt::format("With one batch in flight it gives {}; {} in flight make that {}.", rate(*sequential),
                     demands.in_flight, times(demands.throughput_image_per_s / *sequential));
}

}  // namespace paretopipe::diagnosis
