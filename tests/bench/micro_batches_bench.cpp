#include <paretopipe/analysis/stats/quantile.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include <fmt/ranges.h>

#include "benches.hpp"
#include "report.hpp"
#include "trials.hpp"

namespace paretopipe::bench {
namespace {

constexpr int kBatch = 8;

/// A synthetic pipeline with a block a stage, which takes its time for every micro-batch.
struct MicroBatchesCase {
  std::vector<int> stages_ms;
  int micro_batches;
  int depth;
  int repetitions;     ///< the result is their median
  double link_us = 0;  ///< what each link may take, where that is more than 1 % of the truth
};

std::vector<int> times(std::vector<int> durations, int factor) {
  for (int& duration : durations) duration *= factor;
  return durations;
}

experiment::Trial trial_of(const MicroBatchesCase& point) {
  experiment::Trial trial;
  trial.model = fmt::format("synthetic:{}ms", fmt::join(point.stages_ms, "ms/4kB,"));
  trial.block_count = static_cast<int>(point.stages_ms.size());
  for (int cut = 1; cut < trial.block_count; ++cut) trial.split_points.push_back(cut);
  trial.batch = kBatch;
  trial.micro_batch = point.micro_batches == 1 ? 0 : kBatch / point.micro_batches;
  trial.batches = 12;
  trial.warmup = 2;
  trial.depth = point.depth;
  trial.data = "random";
  trial.cpus.assign(point.stages_ms.size(), "");  // blocks sleep, so that stages need no CPU of their own
  return trial;
}

/// The first micro-batch passes every stage, and behind the slowest one the others follow at its pace.
double true_latency_ns(const MicroBatchesCase& point) {
  const auto slowest = *std::max_element(point.stages_ms.begin(), point.stages_ms.end());
  return 1e6 *
         (std::accumulate(point.stages_ms.begin(), point.stages_ms.end(), 0) + (point.micro_batches - 1) * slowest);
}

/// From one batch to the next: with one in flight the pipeline runs empty in between, with several the slowest stage
/// never rests.
double true_period_ns(const MicroBatchesCase& point) {
  if (point.depth == 1) return true_latency_ns(point);
  return 1e6 * point.micro_batches * *std::max_element(point.stages_ms.begin(), point.stages_ms.end());
}

void report(const std::string& what, double measured_ns, double truth_ns, const MicroBatchesCase& point) {
  const double bound_ns = std::max(0.01 * truth_ns, 1e3 * point.link_us * static_cast<double>(point.stages_ms.size()));
  const double error_ns = measured_ns - truth_ns;
  print_row(fmt::format("error of {} in micro-batches, {} stages: {} ms, {} micro-batches, depth {}", what,
                        point.link_us > 0 ? "short" : "long", fmt::join(point.stages_ms, "+"), point.micro_batches,
                        point.depth),
            fmt::format("{:+.0f} us of {:.0f} ms", error_ns * 1e-3, truth_ns * 1e-6),
            fmt::format("within {:.0f} us", bound_ns * 1e-3), std::abs(error_ns) <= bound_ns);
}

void bench_micro_batches_case(run::PipelineExecutor& executor, const MicroBatchesCase& point) {
  std::vector<double> latencies, periods;
  for (int repetition = 0; repetition < point.repetitions; ++repetition) {
    const auto record = run_trial(executor, trial_of(point));
    latencies.push_back(record.summary->latency->p50_ns);
    periods.push_back(kBatch * 1e9 / record.summary->throughput_image_per_s.value());
  }
  report("latency", *stats::median(latencies), true_latency_ns(point), point);
  report("batch/throughput", *stats::median(periods), true_period_ns(point), point);
}

}  // namespace

void bench_micro_batches(const std::filesystem::path& stage_program) {
  run::PipelineExecutor executor(options_with(stage_program));
  const std::vector<std::vector<int>> pipelines{{5, 3}, {2, 5, 3, 2}, {3, 2, 4, 2, 5, 2, 3, 2}};
  // The truth knows no links. What these and the threads take is the same whatever the stages take: beside short stages
  // it shows, beside long ones it must vanish. These take ten times as long to measure, and are the calmer for it.
  struct Scale {
    int factor;
    int repetitions;
    double link_us;
  };
  for (const auto& [factor, repetitions, link_us] : {Scale{1, 3, 100}, Scale{10, 1, 0}}) {
    for (const auto& pipeline : pipelines) {
      const int enough = std::max(4, static_cast<int>(pipeline.size()));  // that the slowest stage never rests
      for (const int depth : {1, enough}) {
        for (const int micro_batches : {1, 2, 8}) {
          bench_micro_batches_case(executor, {times(pipeline, factor), micro_batches, depth, repetitions, link_us});
        }
      }
    }
  }
}

}  // namespace paretopipe::bench
