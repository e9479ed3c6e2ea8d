#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace paretopipe::stats {

// What the frames of a trial say of the clocks of its stages, without any assumption about the network. A frame cannot
// be received before it was sent, so every frame bounds the offset between two clocks from one side, and a frame the
// other way bounds it from the other side:
//
//   received − sent ≥ offset of the receiver's clock from the sender's
//
// Two quartzes drift apart evenly, by some 10 us a second. So the offset is a line over time, every frame is a
// half-plane of such lines, and the lines that no frame contradicts form a convex polygon in (offset, drift) (Moon,
// Skelly and Towsley, "Estimation and Removal of Clock Skew from Network Delay Measurements", INFOCOM 1999). At any
// time the polygon is at most as wide as the shortest way there and the shortest way back take together, however
// unequal the two. Where there is no direct way back, the links of the rest of the ring are composed to one. Pure.

/// The moments of one frame that crossed a link, each in nanoseconds of that stage's steady clock.
struct FrameTimes {
  std::int64_t sent = 0;      ///< `send_begin` at the sender
  std::int64_t received = 0;  ///< `receive_begin` at the receiver
};

/// The frames of one link, in any order.
struct LinkFrames {
  int from = 0;  ///< stages
  int to = 0;
  std::vector<FrameTimes> frames;
};

/// Ends included. In nanoseconds.
struct OffsetInterval {
  std::int64_t low = 0;
  std::int64_t high = 0;

  bool operator==(const OffsetInterval&) const = default;
};

/// Ends included. Nanoseconds per nanosecond.
struct DriftInterval {
  double low = 0;
  double high = 0;
};

/// offset + drift × time
struct ClockLine {
  double offset = 0;
  double drift = 0;

  double at(double time) const { return offset + drift * time; }
};

/// The lines that may convert a stage's clock to stage 0's, and the chosen one. A line is a function of the time since
/// `origin` on the stage's clock. It gives what is to be added to that clock, in addition to `rough`.
struct ClockPolygon {
  std::int64_t origin = 0;
  std::int64_t rough = 0;
  std::int64_t begin = 0;  ///< the stage's first and last frame
  std::int64_t end = 0;
  std::vector<ClockLine> corners;  ///< at least one
  ClockLine line;
  double contradiction = 0;  ///< 0, or by how much the best line misses the frames; `corners` is then that line
};

/// How a stage's clock is converted to stage 0's: by adding to the stage's time. All times are of the stage's clock.
class ClockBounds {
 public:
  /// The same clock: nothing to add, no error.
  ClockBounds() = default;
  explicit ClockBounds(ClockPolygon polygon) : polygon_(std::move(polygon)) {}

  bool same_clock() const { return !polygon_; }

  /// True if no line satisfies all frames: one of the clocks was stepped, or its rate was changed. The other functions
  /// then describe the line that contradicts the frames least.
  bool empty() const;

  /// The range of what is to be added at `time`.
  OffsetInterval offset_at(std::int64_t time) const;

  /// How fast the amount to be added changes.
  DriftInterval drift() const;

  /// Stage 0's time of a moment. Never decreases from one moment to a later one. A frame whose moments are aligned in
  /// this way is received no earlier than it was sent, unless the polygon is empty.
  std::int64_t to_base(std::int64_t time) const { return time + to_add(time); }
  std::int64_t to_add(std::int64_t time) const;

  /// What to_base() adds to the stage's first and to its last frame.
  std::int64_t to_add_at_begin() const { return polygon_ ? to_add(polygon_->begin) : 0; }
  std::int64_t to_add_at_end() const { return polygon_ ? to_add(polygon_->end) : 0; }

  /// The most by which to_base() can be wrong between the first and the last frame.
  std::int64_t error_ns() const;

 private:
  std::optional<ClockPolygon> polygon_;
};

/// The clocks of all stages. `clocks` has a number for each stage, which is the same for stages with the same clock;
/// stage 0's clock is the base. `links` are in the order in which a batch passes them: 0 → 1 → … → 0, or 0 → 1 → 0 → 2
/// → 0 for a star.
///
/// Each polygon is exactly what the frames allow, with one exception: if the links meet a clock again after two others,
/// the frames may say more of it than its polygon does. Throws Error(internal) for a stage that has a clock of its own
/// and no frames that bound it from both sides.
std::vector<ClockBounds> bound_clocks(std::span<const int> clocks, std::span<const LinkFrames> links);

/// The four timestamps of one exchange (RFC 5905, section 8), in nanoseconds: request sent and reply received on our
/// clock, request received and reply sent on the peer's.
struct ClockExchange {
  std::int64_t sent = 0;
  std::int64_t peer_received = 0;
  std::int64_t peer_sent = 0;
  std::int64_t received = 0;
};

/// The peer's clock minus ours, if it did not change from the first exchange to the last. Nothing if the exchanges
/// contradict one another, or if there are none.
std::optional<OffsetInterval> offset_interval(std::span<const ClockExchange> exchanges);

}  // namespace paretopipe::stats
