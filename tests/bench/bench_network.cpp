// The promises about shaped networks: round trip, goodput, and the transfer time that a trial reports, over a grid of
// delays and rates. Run through scripts/figures; `bench-network netem` where the kernel has it.
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/host/cpu_set.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/shaping/probe/probe.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "report.hpp"
#include "trials.hpp"

namespace {

using namespace paretopipe;

constexpr std::int64_t kPayloadBytes = 200'000;

struct Point {
  int delay_ms;
  int rate_mbit_per_s;
};

constexpr Point kGrid[] = {{1, 5}, {1, 50}, {1, 500}, {10, 5}, {10, 50}, {10, 500}, {50, 50}, {200, 5}, {200, 500}};

experiment::NetworkProfile profile_of(const Point& point) {
  experiment::LinkConditions conditions;
  conditions.delay = std::chrono::milliseconds(point.delay_ms);
  conditions.rate_bit_per_s = point.rate_mbit_per_s * 1'000'000LL;
  return {fmt::format("{} ms, {} Mbit/s", point.delay_ms, point.rate_mbit_per_s), conditions, conditions};
}

experiment::Trial trial_of(const Point& point, experiment::Shaping kind) {
  const auto cpus = host::current_affinity();
  experiment::Trial trial;
  trial.model = fmt::format("synthetic:1ms/{},1ms", kPayloadBytes);
  trial.block_count = 2;
  trial.split_points = {1};
  trial.batches = 8;
  trial.warmup = 6;  // TCP's slow start
  trial.data = "random";
  trial.cpus = {std::to_string(cpus.front()), std::to_string(cpus.back())};
  trial.network = profile_of(point);
  trial.shaping = kind;
  return trial;
}

std::string percent(double measured, double expected) {
  return fmt::format("{:+.1f} %", 100 * (measured / expected - 1));
}

bool near(double measured, double expected, double least_tolerance = 0) {
  return std::abs(measured - expected) <= std::max(0.05 * expected, least_tolerance);
}

void report(const Point& point, experiment::Shaping kind, run::PipelineExecutor& executor) {
  const auto record = bench::run_trial(executor, trial_of(point, kind));
  const double share = kind == experiment::Shaping::netem ? shaping::kTcpPayloadShare : 1;
  const auto expected = shaping::expectation(record.trial.network, share);
  const auto name = fmt::format("{}: {}", to_string(kind), record.trial.network.name);

  const auto round_trip = static_cast<double>(*record.network->round_trip_ns);
  const auto ideal = static_cast<double>(expected.round_trip_most.count());
  bench::print_row("round trip, " + name, percent(round_trip, ideal), "within 5 % or 1 ms",
                   near(round_trip, ideal, 1e6));
  const auto goodput = *record.network->forward_bit_per_s;
  bench::print_row("goodput, " + name, percent(goodput, *expected.forward_bit_per_s), "within 5 %",
                   near(goodput, *expected.forward_bit_per_s));
  const double transfer = record.summary->links.front().transfer_p50_ns;
  const double physics = point.delay_ms * 1e6 + kPayloadBytes * 8 / (point.rate_mbit_per_s * 1e-3 * share);
  bench::print_row("transfer of 200 kB, " + name, percent(transfer, physics), "within 5 % of d + B/r",
                   near(transfer, physics));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto kind =
        experiment::parse_shaping(argc > 1 ? argv[1] : "emulated").value_or(experiment::Shaping::emulated);
    run::PipelineExecutor executor(bench::options_with(launch::find_stage_program()));
    for (const auto& point : kGrid) report(point, kind, executor);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "bench-network: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
