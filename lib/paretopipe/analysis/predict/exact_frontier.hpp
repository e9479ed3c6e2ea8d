#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace paretopipe::predict {

/// What one device takes for each run of consecutive blocks of a model: N (N + 1) / 2 numbers. They need not be
/// additive, because a stage that is compiled as a whole is not.
class StageTimes {
 public:
  /// Every run takes no time until it is set. Throws std::invalid_argument for less than one block.
  explicit StageTimes(int blocks);

  int blocks() const { return blocks_; }

  /// The blocks from `begin` up to, but not including, `end`. Throws std::invalid_argument for a run that does not
  /// exist, and for a time below 0 or beyond kLongestNs.
  void set(int begin, int end, std::int64_t ns);

  /// The device cannot compute this run at all, for example because its memory is too small for it.
  void forbid(int begin, int end);

  bool possible(int begin, int end) const { return at(begin, end) <= kLongestNs; }

  /// Beyond kLongestNs if it is not possible. Requires 0 <= begin < end <= blocks().
  std::int64_t at(int begin, int end) const { return row(begin)[end]; }

  /// The times of the runs that begin here, by their end.
  const std::int64_t* row(int begin) const { return times_.data() + place(begin, 0); }

  /// Eleven days. So sums of many times cannot overflow.
  static constexpr std::int64_t kLongestNs = 1'000'000'000'000'000;

 private:
  std::size_t place(int begin, int end) const {
    return static_cast<std::size_t>(begin) * (static_cast<std::size_t>(blocks_) + 1) + static_cast<std::size_t>(end);
  }
  void check(int begin, int end) const;

  int blocks_;
  std::vector<std::int64_t> times_;
};

/// A link's times for what crosses it, by the cut: [k] is for a cut after the first k blocks, 0 … N. Both are at most
/// StageTimes::kLongestNs.
struct LinkTimes {
  std::vector<std::int64_t> latency_ns;  ///< from the sender's first byte until the receiver has all
  std::vector<std::int64_t> busy_ns;     ///< how long it keeps the next batch off: without the link's own delay
};

/// A stage of a solution: a device, by its index, and its blocks.
struct PlacedStage {
  int device = 0;
  int begin = 0;
  int end = 0;

  bool operator==(const PlacedStage&) const = default;
};

/// One way to cut the model, and how fast it would be: the latency is the sum over all stages and links, the period the
/// largest of their times. With enough batches in flight, results follow each other at the period.
struct Solution {
  std::int64_t latency_ns = 0;
  std::int64_t period_ns = 0;
  std::vector<PlacedStage> stages{};

  bool operator==(const Solution&) const = default;
};

/// The exact frontier of latency and period over all partitions into as many stages as there are devices, in their
/// order, with at least one block each. It holds whatever the times are. Of partitions that are equal in both numbers
/// it has one. Lowest latency first. Empty if no partition is possible.
///
/// `links`: [s] leads from stage s to the next, and the last one back to stage 0 with the results. A single device
/// needs none. Throws std::invalid_argument if the numbers of blocks or links do not fit.
///
/// For each bound on the period, dynamic programming over the cuts finds a partition of least latency in O(K N^2)
/// (Bokhari, "Partitioning problems in parallel, pipelined, and distributed computing", 1988). The bound begins at
/// infinity and then goes just below the period of the last solution, until there is none: one solve per point (the
/// epsilon-constraint method of Haimes, Lasdon and Wismer, 1971).
std::vector<Solution> frontier_in_order(std::span<const StageTimes> devices, std::span<const LinkTimes> links);

/// The same over all orders of any `stages` of the devices. All links are alike. The dynamic programming is over the
/// sets of devices that compute the rest of the model, which takes O(2^D D N^2) for each point; the number of orders
/// does not matter. Throws UsageError for more than kMostDevicesInAnyOrder devices: the problem is NP-hard (Benoit and
/// Robert, "Mapping pipeline skeletons onto heterogeneous platforms", 2008).
std::vector<Solution> frontier_in_any_order(std::span<const StageTimes> devices, int stages, const LinkTimes& link);

inline constexpr int kMostDevicesInAnyOrder = 12;

}  // namespace paretopipe::predict
