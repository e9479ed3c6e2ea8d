#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <algorithm>
#include <cmath>

#include "bare_socket.hpp"
#include "benches.hpp"
#include "report.hpp"
#include "trials.hpp"

namespace paretopipe::bench {
namespace {

constexpr std::size_t kReplyBytes = 40;  // ten logits
constexpr int kRepetitions = 5;
constexpr int kBareRounds = 60;

/// Two synthetic blocks with a cut between them.
struct PipelineCase {
  int first_ms;
  int second_ms;
  std::size_t payload;
};

experiment::Trial trial_of(const PipelineCase& point, const host::CpuSet& cpus) {
  experiment::Trial trial;
  trial.model = fmt::format("synthetic:{}ms/{},{}ms", point.first_ms, point.payload, point.second_ms);
  trial.block_count = 2;
  trial.split_points = {1};
  trial.batches = 32;
  trial.warmup = 4;
  trial.depth = 4;
  trial.data = "random";
  trial.cpus = {std::to_string(cpus.front()), std::to_string(cpus.back())};
  return trial;
}

struct Measured {
  double latency_ns = 0;
  double compute_ns = 0;
  double period_ns = 0;         ///< of the Offline phase: 1 / throughput
  double slowest_stage_ns = 0;  ///< median compute at depth
  double transfer_ns = 0;
  double bare_round_trip_ns = 0;
};

Measured measure_once(run::PipelineExecutor& executor, const PipelineCase& point, const host::CpuSet& cpus) {
  Measured measured;
  const auto record = run_trial(executor, trial_of(point, cpus));
  measured.bare_round_trip_ns = bare_round_trip_ns(
      {point.first_ms * 1'000'000LL, point.second_ms * 1'000'000LL, point.payload, kReplyBytes}, kBareRounds);

  const auto& summary = *record.summary;
  measured.latency_ns = summary.latency->p50_ns;
  for (const auto& part : summary.breakdown)
    measured.compute_ns += part.part == record::Part::compute ? part.p50_ns : 0;
  measured.period_ns = 1e9 / summary.throughput_image_per_s.value();
  for (const auto& stage : summary.stages)
    measured.slowest_stage_ns = std::max(measured.slowest_stage_ns, stage.compute_p50_ns);
  measured.transfer_ns = summary.links.front().transfer_p50_ns;
  return measured;
}

double median_of(const std::vector<Measured>& all, const std::function<double(const Measured&)>& value) {
  std::vector<double> values;
  std::transform(all.begin(), all.end(), std::back_inserter(values), value);
  return *stats::median(values);
}

void report_framework(const std::vector<Measured>& runs) {
  const auto overhead =
      median_of(runs, [](const auto& m) { return m.latency_ns - m.compute_ns - m.bare_round_trip_ns; });
  print_row("per-batch overhead, 2 MB (latency - computes - bare socket)", fmt::format("{:.0f} us", overhead * 1e-3),
            "at most 100 us", overhead <= 100e3);
  const auto bound =
      median_of(runs, [](const auto& m) { return std::max(m.slowest_stage_ns, m.transfer_ns) / m.period_ns; });
  print_row("throughput at depth 4 to 1 / max(slowest stage, transfer)", fmt::format("{:.3f}", bound), "at least 0.97",
            bound >= 0.97);
}

/// The truth: the two blocks and a bare socket's round trip; at depth the slower block, or the transfer if that is
/// slower.
void report_accuracy(const PipelineCase& point, const std::vector<Measured>& runs) {
  const double blocks = (point.first_ms + point.second_ms) * 1e6;
  const double latency_error =
      median_of(runs, [&](const auto& m) { return m.latency_ns - blocks - m.bare_round_trip_ns; });
  const double period_error = median_of(runs, [&](const auto& m) {
    return m.period_ns - std::max(std::max(point.first_ms, point.second_ms) * 1e6, m.bare_round_trip_ns);
  });
  const double latency_bound = std::max(100e3, 0.01 * blocks);
  const double period_bound = std::max(100e3, 0.01 * std::max(point.first_ms, point.second_ms) * 1e6);
  const auto name = fmt::format("{} ms + {} ms, {}", point.first_ms, point.second_ms,
                                format_bytes(static_cast<double>(point.payload)));
  print_row("error of latency: " + name, fmt::format("{:+.0f} us", latency_error * 1e-3),
            fmt::format("within {:.0f} us", latency_bound * 1e-3), std::abs(latency_error) <= latency_bound);
  print_row("error of 1/throughput: " + name, fmt::format("{:+.0f} us", period_error * 1e-3),
            fmt::format("within {:.0f} us", period_bound * 1e-3), std::abs(period_error) <= period_bound);
}

/// A sweep of one model: what a trial costs beyond its batches, once the model is loaded.
void report_transition(run::PipelineExecutor& executor, const host::CpuSet& cpus) {
  std::vector<experiment::Trial> trials;
  for (int repetition = 0; repetition < 4 * kRepetitions; ++repetition) {
    for (const int split : {0, 1, 2}) {
      trials.push_back(trial_of({2, 2, 2'000'000}, cpus));
      trials.back().split_points = {split};
      trials.back().repetition = repetition;
    }
  }
  executor.expect(trials);
  std::vector<double> costs;
  for (const auto& trial : trials) {
    const auto begin = now_ns();
    const auto record = run_trial(executor, trial);
    const auto whole = now_ns() - begin;
    costs.push_back(static_cast<double>(whole - record.single_stream->results.completed.back() -
                                        record.offline->results.completed.back()));
  }
  const auto cost = *stats::median(costs);
  print_row("from one trial to the next, beyond its batches", fmt::format("{:.1f} ms", cost * 1e-6), "at most 50 ms",
            cost <= 50e6);
}

}  // namespace

void bench_pipeline(const std::filesystem::path& stage_program) {
  const auto cpus = host::current_affinity();
  run::PipelineExecutor executor(options_with(stage_program));

  std::vector<PipelineCase> grid;
  for (const auto& [first, second] : {std::pair{2, 2}, {5, 3}, {3, 10}, {20, 20}}) {
    for (const std::size_t payload : {4'000, 200'000, 2'000'000}) grid.push_back({first, second, payload});
  }
  executor.run(trial_of(grid.front(), cpus));  // starts the processes
  std::vector<std::vector<Measured>> runs(grid.size());
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    for (std::size_t i = 0; i < grid.size(); ++i) runs[i].push_back(measure_once(executor, grid[i], cpus));
  }
  report_transition(executor, cpus);
  report_framework(runs[5]);
  for (std::size_t i = 0; i < grid.size(); ++i) report_accuracy(grid[i], runs[i]);
}

}  // namespace paretopipe::bench
