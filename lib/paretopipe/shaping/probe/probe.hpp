#pragma once
#include <paretopipe/config/network_profile.hpp>
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::shaping {

/// How a link is looked at. The defaults suit a link that nothing shapes; probe_options() computes what a profile
/// needs.
struct ProbeOptions {
  int round_trips = 30;
  Nanoseconds settling{std::chrono::milliseconds(200)};   ///< of a transfer, until TCP's slow start is over; dropped
  Nanoseconds measuring{std::chrono::milliseconds(300)};  ///< of a transfer, after that
  /// Payload bytes sent that have not arrived. Less than the link can hold, or else TCP's slow start overshoots, and
  /// what arrives tells for seconds of its recovery from the losses, and not of the link.
  std::int64_t forward_in_flight = std::numeric_limits<std::int64_t>::max();
  std::int64_t backward_in_flight = std::numeric_limits<std::int64_t>::max();
  std::int64_t most_bytes = 2'000'000'000;  ///< a transfer ends here at the latest, and its second half counts
  int interrupt_descriptor = -1;            ///< readable when a person wants to stop; -1: nobody can
};

/// Suits a link of this profile. Settling takes the round trips of a slow start from ten segments to what is under way
/// at the rate, and four more; measuring takes four round trips, fifty frames and half a second, whichever is longest.
/// In flight are the direction's delay at its rate, and half of its queue.
ProbeOptions probe_options(const config::NetworkProfile& profile);

/// What was measured between two ends of a link.
struct Probe {
  Nanoseconds round_trip_min{0};
  Nanoseconds round_trip_median{0};
  double forward_bit_per_s = 0;  ///< goodput: payload that arrived
  double backward_bit_per_s = 0;

  bool operator==(const Probe&) const = default;
};

void to_json(nlohmann::json& json, const Probe& probe);
void from_json(const nlohmann::json& json, Probe& probe);

/// One way of bytes whose ends are both here: the descriptors of a connected pair of stream sockets, over whatever lies
/// between them.
struct OneWay {
  int from;
  int to;
};

/// Measures a way there and a way back. The round trip is that of one byte sent there and back, with nothing else under
/// way; then a long transfer runs in each direction. Blocks for about round_trips round trips, and twice settling
/// + measuring. Both ways are empty before and after. Throws EnvironmentError if one ends, or delivers nothing for 30
/// s; and Interrupted at once, with bytes under way.
Probe probe_link(OneWay forward, OneWay backward, const ProbeOptions& options);

/// The same where both ways are those of one connection.
inline Probe probe_link(int first, int second, const ProbeOptions& options) {
  return probe_link({first, second}, {second, first}, options);
}

/// What part of a rate is payload. qdiscs count frames, of which TCP's payload is 1448 of 1514 bytes.
constexpr double kTcpPayloadShare = static_cast<double>(kSegmentBytes) / static_cast<double>(kFrameBytes);

/// What a probe of an ideal link of this profile shows.
struct Expectation {
  /// The sum of both delays, and up to as much more as the frames of a ping (67 bytes) take at the rates: a bucket that
  /// is full lets them pass at once, a rate without a bucket does not.
  Nanoseconds round_trip_least{0};
  Nanoseconds round_trip_most{0};
  /// rate × payload_share. None where there is no rate, and where losses, duplicates or reordering decide what TCP
  /// makes of it.
  std::optional<double> forward_bit_per_s;
  std::optional<double> backward_bit_per_s;
};
Expectation expectation(const config::NetworkProfile& profile, double payload_share = kTcpPayloadShare);

/// Sentences on where a measurement is not what the profile promises: a round trip by more than 5 % and 1 ms, a goodput
/// by more than 5 %. Empty if all is well. The smallest round trip counts, for the machine can only add to it; the
/// median does where jitter or reordering scatter it, within the jitter of both directions.
std::vector<std::string> judge(const config::NetworkProfile& profile, const Probe& probe,
                               double payload_share = kTcpPayloadShare);

}  // namespace paretopipe::shaping
