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

/// The conditions that an emulated link cannot do, as sentences for a person; empty if it can do all. It handles a byte
/// stream, not packets: nothing can be lost, overtake or come twice, and TCP has nothing to react to. Queue limits have
/// no effect: nothing is dropped, the sender waits.
std::vector<std::string> unsupported(const config::LinkConditions& conditions);

/// Decides, for one direction of one connection, when arriving bytes come out at the other end. Bytes leave through a
/// token bucket (rate r, burst b; tc-tbf(8)) and then travel for the delay, with jitter, never before earlier bytes. So
/// B bytes that arrive at once at an idle link are delivered in full after d + (B - b)/r, but not before d.
///
/// Without a burst in the profile b is 0: bits leave one after the other, which takes d + B/r. The rate counts the
/// stream's bytes; there are no packet headers.
///
/// Jitter that keeps the order makes the mean longer than d if bytes follow one another faster than the jitter, because
/// the slowest holds up those behind it. TCP streams over netem behave the same. The delay never goes below 0.
class EmulatedSchedule {
 public:
  EmulatedSchedule(const config::LinkConditions& conditions, std::uint64_t seed);

  /// The moment at which the last of `bytes` (0 or more) that arrive together comes out. Arrivals must not go back in
  /// time.
  Clock::time_point deliver(Clock::time_point arrival, std::int64_t bytes);

  /// Sets other conditions from now on, with a full bucket. New bytes still do not overtake earlier ones.
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

/// The size of the pieces into which arriving bytes are cut, so that they come out at the rate rather than in lumps:
/// what passes in 250 us, from 1500 bytes (a packet) to 64 KiB. 15.6 kB at 500 Mbit/s.
std::int64_t piece_bytes(const config::LinkConditions& conditions);

/// The most bytes that one direction of a connection holds: those on their way (rate times the delay with its jitter;
/// 10 Gbit/s if no rate is set) and 4 MiB like a socket's buffer, 256 MiB in all. Beyond this nothing is read from the
/// sender until something has come out.
std::size_t buffer_limit(const config::LinkConditions& conditions);

}  // namespace paretopipe::shaping
