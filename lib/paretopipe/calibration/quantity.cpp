#include <paretopipe/calibration/quantity.hpp>
#include <paretopipe/stats/breakdown.hpp>
#include <paretopipe/stats/quantile.hpp>

#include <algorithm>
#include <array>

namespace paretopipe::calibration {
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
