#pragma once
#include <paretopipe/config/network_profile.hpp>
#include <paretopipe/core/clock.hpp>
#include <paretopipe/shaping/emulated/jitter.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// The emulated link's arithmetic, without clock or sockets.
namespace paretopipe::shaping {

/// What an emulated link cannot do of these conditions, as sentences for a person; empty if it can do all. It has a
/// byte stream in its hands, not packets: nothing can be lost, overtake or come twice, and TCP has nothing to react to.
/// The limits of a queue have no effect: nothing is dropped from it, the sender waits.
std::vector<std::string> unsupported(const config::LinkConditions& conditions);

/// One direction of one connection: when bytes that arrive come out at the other end. Bytes leave through a token
/// bucket (rate r, burst b; tc-tbf(8)) and then travel for the delay, with jitter, never before bytes that came
/// earlier. So B bytes that arrive at once at an idle link are delivered in full after d + (B - b)/r, and no sooner
/// than d.
///
/// Without a burst in the profile b is 0: a line that sends one bit after the other, d + B/r. The rate counts the
/// stream's bytes; there are no packet headers to count.
///
/// Jitter that keeps the order makes the mean longer than d where bytes follow one another faster than the jitter, for
/// the slowest holds up those behind it. This is what a TCP stream meets over netem, too. It never goes below 0.
class EmulatedSchedule {
 public:
  EmulatedSchedule(const config::LinkConditions& conditions, std::uint64_t seed);

  /// When the last of `bytes` (0 or more) that arrive together comes out. Arrivals must not go back in time.
  Clock::time_point deliver(Clock::time_point arrival, std::int64_t bytes);

  /// From now on others, with a full bucket. What comes next is still not delivered before what came earlier.
  void set_conditions(const config::LinkConditions& conditions, std::uint64_t seed);

 private:
  Clock::time_point leave(Clock::time_point arrival, std::int64_t bytes);
  Nanoseconds travel();

  config::LinkConditions conditions_;
  EmulatedJitter jitter_;
  Clock::time_point
      bucket_empty_{};  ///< as if tokens were spent at the rate: no later than now - b/r means a full bucket
  Clock::time_point last_{};
};

/// Into how large pieces arriving bytes are cut, so that they come out at the rate rather than in lumps: what passes in
/// 250 us, from 1500 bytes (a packet) to 64 KiB. 15.6 kB at 500 Mbit/s.
std::int64_t piece_bytes(const config::LinkConditions& conditions);

/// How many bytes one direction of a connection holds at most: what is on its way (rate times the delay with its
/// jitter; 10 Gbit/s where no rate is set) and 4 MiB as a socket's buffer would, 256 MiB in all. Beyond this nothing is
/// read from the sender until something has come out.
std::size_t buffer_limit(const config::LinkConditions& conditions);

}  // namespace paretopipe::shaping
