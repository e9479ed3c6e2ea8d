#include <paretopipe/analysis/calibration/grid.hpp>
#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/units.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace paretopipe::calibration {

namespace {

using namespace std::chrono_literals;

std::vector<Cell> grid_of(const std::vector<Nanoseconds>& computes, const std::vector<std::int64_t>& payloads) {
  std::vector<Cell> grid;
  for (const bool emulated : {false, true}) {
    for (const auto compute : computes) {
      for (const auto payload : payloads) grid.push_back({compute, payload, emulated});
    }
  }
  return grid;
}

}  // namespace

experiment::NetworkProfile calibration_network() {
  experiment::NetworkProfile network;
  network.name = "calibration";
  network.forward.delay = 20ms;
  network.forward.rate_bit_per_s = 500'000'000;
  network.backward = network.forward;
  return network;
}

std::vector<Cell> full_grid() {
  return grid_of({2ms, 5ms, 10ms}, {4'000, 200'000, 2'000'000});
}

std::vector<Cell> quick_grid() {
  return grid_of({2ms, 5ms}, {4'000, 200'000});
}

int depth_of(const Cell& cell) {
  constexpr int kLeast = 4;
  if (!cell.emulated) return kLeast;
  const auto network = calibration_network();
  const auto block = static_cast<double>(cell.compute.count());
  const auto serial =
      static_cast<double>(cell.payload_bytes) * 8e9 / static_cast<double>(*network.forward.rate_bit_per_s);
  const auto delays = static_cast<double>((network.forward.delay + network.backward.delay).count());
  return std::max(kLeast, static_cast<int>(std::ceil((2 * block + delays + serial) / std::max(block, serial))) + 2);
}

experiment::Trial trial_of(const Cell& cell, const Effort& effort, const std::vector<std::string>& cpus,
                           int repetition) {
  experiment::Trial trial;
  const auto duration = cell.compute.count();
  trial.model = fmt::format("synthetic:{}ns/{},{}ns", duration, cell.payload_bytes, duration);
  trial.block_count = 2;
  trial.split_points = {1};
  trial.batches = effort.batches;
  trial.warmup = effort.warmup;
  trial.depth = depth_of(cell);
  trial.repetition = repetition;
  trial.data = "random";
  trial.cpus = cpus;
  if (cell.emulated) {
    trial.network = calibration_network();
    trial.shaping = experiment::Shaping::emulated;
  }
  return trial;
}

std::vector<experiment::Trial> trials_of(const std::vector<Cell>& grid, const Effort& effort,
                                         const std::vector<std::string>& cpus) {
  std::vector<experiment::Trial> trials;
  for (const bool emulated : {false, true}) {
    for (int repetition = 0; repetition < effort.repetitions; ++repetition) {
      for (const auto& cell : grid) {
        if (cell.emulated == emulated) trials.push_back(trial_of(cell, effort, cpus, repetition));
      }
    }
  }
  return trials;
}

std::string describe(const Cell& cell) {
  return fmt::format("{}, {} B, {}", format_duration(static_cast<double>(cell.compute.count())), cell.payload_bytes,
                     cell.emulated ? "emulated" : "loopback");
}

namespace {

using record::Part;
using record::TrialRecord;
using Truth = std::optional<double>;

/// Median over the measured batches of the sum of those parts for which `wanted` is true.
template <class Wanted>
double median_of_parts(const TrialRecord& record, Wanted wanted) {
  const auto breakdown = stats::breakdown(*record.single_stream);
  std::vector<double> sums(breakdown.latency_ns.size());
  for (const auto& series : breakdown.parts) {
    if (!wanted(series)) continue;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(series.ns[i]);
  }
  sums.erase(sums.begin(), sums.begin() + record.single_stream->warmup);
  return *stats::median(std::move(sums));
}

double latency(const TrialRecord& record) {
  return median_of_parts(record, [](const auto&) { return true; });
}

double latency_less_transfers(const TrialRecord& record) {
  return median_of_parts(record, [](const auto& series) { return series.part != Part::transfer; });
}

double overhead(const TrialRecord& record) {
  return median_of_parts(
      record, [](const auto& series) { return series.part != Part::transfer && series.part != Part::compute; });
}

template <Part Wanted, int Stage>
double part(const TrialRecord& record) {
  return median_of_parts(record, [](const auto& series) { return series.part == Wanted && series.stage == Stage; });
}

double period(const TrialRecord& record) {
  return record.trial.batch * 1e9 / record.summary->throughput_image_per_s.value();
}

double block_ns(const Cell& cell) {
  return static_cast<double>(cell.compute.count());
}

/// B/r of the frame on a link: its size over the rate.
double serial_ns(const TrialRecord& record, std::size_t link) {
  const auto bytes = record.links.at(link).payload_bytes + record.links.at(link).header_bytes;
  return static_cast<double>(bytes) * 8e9 / static_cast<double>(*calibration_network().forward.rate_bit_per_s);
}

template <std::size_t Link>
Truth true_transfer(const Cell& cell, const TrialRecord& record) {
  if (!cell.emulated) return std::nullopt;
  return static_cast<double>(calibration_network().forward.delay.count()) + serial_ns(record, Link);
}

Truth true_block(const Cell& cell, const TrialRecord&) {
  return block_ns(cell);
}

Truth true_computes(const Cell& cell, const TrialRecord&) {
  return 2 * block_ns(cell);
}

Truth nothing(const Cell&, const TrialRecord&) {
  return 0;
}

Truth true_latency(const Cell& cell, const TrialRecord& record) {
  if (!cell.emulated) return std::nullopt;
  return 2 * block_ns(cell) + *true_transfer<0>(cell, record) + *true_transfer<1>(cell, record);
}

/// On the loopback, the block sets the pace while the measured transfer takes less than a block; otherwise the truth is
/// unknown.
Truth true_period(const Cell& cell, const TrialRecord& record) {
  if (cell.emulated) return std::max(block_ns(cell), serial_ns(record, 0));
  return part<Part::transfer, 1>(record) < block_ns(cell) ? Truth{block_ns(cell)} : std::nullopt;
}

constexpr std::array kQuantities{
    Quantity{"latency", "latency", "one batch in flight; truth: two blocks and two transfers of d + B/r", latency,
             true_latency},
    Quantity{"latency_less_transfers", "less transfers", "latency but for the measured transfers; truth: two blocks",
             latency_less_transfers, true_computes},
    Quantity{"compute_stage0", "compute 0", "compute of stage 0; truth: the block", part<Part::compute, 0>, true_block},
    Quantity{"compute_stage1", "compute 1", "compute of stage 1; truth: the block", part<Part::compute, 1>, true_block},
    Quantity{"transfer", "transfer", "payload to stage 1; truth: d + B/r, on the loopback unknown",
             part<Part::transfer, 1>, true_transfer<0>},
    Quantity{"transfer_back", "transfer back", "result to stage 0; truth: d + B/r, on the loopback unknown",
             part<Part::transfer, 0>, true_transfer<1>},
    Quantity{"overhead", "overhead", "all other parts of the latency: queues, encode, decode; truth: 0", overhead,
             nothing},
    Quantity{"period", "period", "1 / throughput at depth; truth: the slower of a block and B/r of a link", period,
             true_period},
};

}  // namespace

std::span<const Quantity> quantities() {
  return kQuantities;
}

}  // namespace paretopipe::calibration
