#include <paretopipe/analysis/stats/quantile.hpp>

#include <cmath>
#include <vector>

#include <support/queueing.hpp>

#include "benches.hpp"
#include "report.hpp"
#include "trials.hpp"

namespace paretopipe::bench {
namespace {

constexpr int kService_ms = 5;
constexpr int kQueries = 1600;
constexpr std::size_t kStretches = 16;
constexpr double kStudent = 2.95;  ///< of the 99 % interval of kStretches means

/// One stage whose service takes 5 ms, no more and no less: M/D/1.
experiment::Trial trial_at(double rho) {
  experiment::Trial trial;
  trial.model = fmt::format("synthetic:{}ms", kService_ms);
  trial.block_count = 1;
  trial.split_points = {1};
  trial.batches = 64;
  trial.warmup = 8;
  trial.depth = 4;
  trial.data = "random";
  trial.cpus = {"", ""};
  trial.server = experiment::ServerLoad{rho * 1000 / kService_ms, std::nullopt, kQueries};
  return trial;
}

/// Half of the 99 % interval of the mean, by the means of stretches: neighbours in a queue wait alike.
double half_width(const std::vector<std::int64_t>& waits) {
  const auto length = waits.size() / kStretches;
  std::vector<double> means;
  for (std::size_t i = 0; i < kStretches; ++i)
    means.push_back(*stats::mean(std::span(waits).subspan(i * length, length)));
  double mean = 0;
  for (const double value : means) mean += value / kStretches;
  double squares = 0;
  for (const double value : means) squares += (value - mean) * (value - mean);
  return kStudent * std::sqrt(squares / (kStretches - 1) / kStretches);
}

void bench_load(run::PipelineExecutor& executor, double rho) {
  const auto record = run_trial(executor, trial_at(rho));
  const auto& run = record.server.value().runs.front();
  const double service_ns = 1e9 / record.summary->throughput_image_per_s.value();
  const auto alone_ns = static_cast<std::int64_t>(record.summary->latency->mean_ns);
  std::vector<std::int64_t> waits;
  for (std::size_t i = static_cast<std::size_t>(run.warmup); i < run.moments.scheduled.size(); ++i) {
    waits.push_back(run.moments.completed[i] - run.moments.scheduled[i] - alone_ns);
  }
  const double measured = *stats::mean(waits);
  const auto simulated = support::lindley_waits(run.moments.scheduled, std::llround(service_ns));
  const double same_arrivals = *stats::mean(std::span(simulated).subspan(static_cast<std::size_t>(run.warmup)));
  const double theory = support::md1_mean_wait_ns(run.rate_image_per_s * service_ns * 1e-9, service_ns);
  const double half = half_width(waits);
  print_row(fmt::format("mean wait to Lindley's of the same arrivals: load {:.1f}", rho),
            fmt::format("{:.3f}", measured / same_arrivals), "within 5 % + 100 us",
            std::abs(measured - same_arrivals) <= 0.05 * same_arrivals + 100e3);
  print_row(fmt::format("mean wait to Pollaczek-Khinchine's: load {:.1f}", rho),
            fmt::format("{:.3f}", measured / theory), fmt::format("{:.3f} from 1 (99 %)", half / theory),
            std::abs(measured - theory) <= half);
}

}  // namespace

void bench_server(const std::filesystem::path& stage_program) {
  run::PipelineExecutor executor(options_with(stage_program));
  for (const double rho : {0.3, 0.6, 0.8}) bench_load(executor, rho);
}

}  // namespace paretopipe::bench
