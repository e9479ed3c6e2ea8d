#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace paretopipe::shaping {

/// The tolerated deviation of a network from its profile; beyond it, nothing measured over the network counts.
constexpr double kTolerance = 0.05;

/// The tolerance of a time: at least a millisecond.
inline Nanoseconds tolerance_of(Nanoseconds time) {
  const auto share = std::chrono::duration_cast<Nanoseconds>(kTolerance * time);
  return std::max<Nanoseconds>(std::chrono::milliseconds(1), share);
}

/// How to measure a link. The defaults suit an unshaped link; probe_options() computes values for a profile.
struct ProbeOptions {
  int round_trips = 30;
  Nanoseconds settling{std::chrono::milliseconds(200)};   ///< of a transfer, until TCP's slow start is over; dropped
  Nanoseconds measuring{std::chrono::milliseconds(300)};  ///< of a transfer, after that
  /// Payload bytes sent but not arrived. Less than the link can hold; otherwise TCP's slow start overshoots, and for
  /// seconds the arrivals show its recovery from losses instead of the link.
  std::int64_t forward_in_flight = std::numeric_limits<std::int64_t>::max();
  std::int64_t backward_in_flight = std::numeric_limits<std::int64_t>::max();
  std::int64_t most_bytes = 2'000'000'000;  ///< a transfer ends here at the latest; then its second half counts
  int interrupt_descriptor = -1;            ///< readable when a person wants to stop; -1: nobody can
};

/// Options for a link of this profile. Settling takes the round trips of a slow start from ten segments to what is
/// under way at the rate, and four more. Measuring takes four round trips, fifty frames or half a second, whichever is
/// longest. In flight are the direction's delay at its rate, and half of its queue.
ProbeOptions probe_options(const experiment::NetworkProfile& profile);

/// The measurements between two ends of a link.
struct Probe {
  Nanoseconds round_trip_min{0};
  Nanoseconds round_trip_median{0};
  double forward_bit_per_s = 0;  ///< goodput: payload that arrived
  double backward_bit_per_s = 0;

  bool operator==(const Probe&) const = default;
};

/// One direction of bytes with both ends here: the descriptors of a connected pair of stream sockets, over whatever
/// lies between them.
struct OneWay {
  int from;
  int to;
};

/// Measures a way there and a way back. The round trip is that of one byte sent there and back, with nothing else under
/// way. Then a long transfer runs in each direction. Blocks for about round_trips round trips and twice settling +
/// measuring. Both ways are empty before and after. Throws EnvironmentError if one ends or delivers nothing for 30 s,
/// and Interrupted at once, with bytes under way.
Probe probe_link(OneWay forward, OneWay backward, const ProbeOptions& options);

/// The same for both directions of one connection.
inline Probe probe_link(int first, int second, const ProbeOptions& options) {
  return probe_link({first, second}, {second, first}, options);
}

/// The share of a rate that is payload. qdiscs count frames; TCP's payload is 1448 of their 1514 bytes.
constexpr double kTcpPayloadShare = static_cast<double>(kSegmentBytes) / static_cast<double>(kFrameBytes);

/// The results of probing an ideal link of this profile.
struct Expectation {
  /// The sum of both delays. The upper limit adds the time of a ping's frames (67 bytes) at the rates: a full bucket
  /// lets them pass at once, a rate without a bucket does not.
  Nanoseconds round_trip_least{0};
  Nanoseconds round_trip_most{0};
  /// rate × payload_share. None without a rate, and if losses, duplicates or reordering decide what TCP makes of it.
  std::optional<double> forward_bit_per_s;
  std::optional<double> backward_bit_per_s;
};
Expectation expectation(const experiment::NetworkProfile& profile, double payload_share = kTcpPayloadShare);

/// Sentences on deviations of a measurement from the profile: a round trip by more than 5 % and 1 ms, a goodput by more
/// than 5 %. Empty if all is well. Judges the smallest round trip, because the machine can only add to it; if jitter or
/// reordering scatter it, judges the median, within the jitter of both directions.
std::vector<std::string> judge(const experiment::NetworkProfile& profile, const Probe& probe,
                               double payload_share = kTcpPayloadShare);

}  // namespace paretopipe::shaping
