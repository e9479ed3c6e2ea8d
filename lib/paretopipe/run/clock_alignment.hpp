#pragma once
#include <paretopipe/record/record.hpp>

#include <cstdint>
#include <span>

namespace paretopipe::run {

/// The four timestamps of one exchange (RFC 5905, section 8), in nanoseconds: request sent and reply received on our
/// clock, request received and reply sent on the peer's.
struct ClockExchange {
  std::int64_t sent = 0;
  std::int64_t peer_received = 0;
  std::int64_t peer_sent = 0;
  std::int64_t received = 0;

  std::int64_t round_trip() const { return (received - sent) - (peer_sent - peer_received); }

  /// The peer's clock minus ours if both ways took equally long; the error is at most half the round trip.
  std::int64_t offset() const { return ((peer_received - sent) + (peer_sent - received)) / 2; }

  std::int64_t error_bound() const { return round_trip() / 2; }

  std::int64_t midpoint() const { return sent + (received - sent) / 2; }
};

/// The exchange with the shortest round trip: the least disturbed one. Requires at least one exchange.
const ClockExchange& best_exchange(std::span<const ClockExchange> exchanges);

/// Maps a peer's clock to ours, from one exchange before and one after a run. The offset is interpolated in between,
/// because two quartzes drift apart by some 10 us a second.
class ClockAlignment {
 public:
  /// The same clock: nothing to map, no error.
  ClockAlignment() = default;
  ClockAlignment(const ClockExchange& before, const ClockExchange& after);

  std::int64_t to_ours(std::int64_t peer_time_ns) const;

  /// The offsets to add to the peer's time, and the larger of the two error bounds, for the record.
  record::ClockRelation relation() const { return relation_; }

 private:
  record::ClockRelation relation_;
  std::int64_t peer_before_ = 0;
  std::int64_t peer_after_ = 0;
};

}  // namespace paretopipe::run
