#pragma once
#include <paretopipe/config/network_profile.hpp>
#include <paretopipe/shaping/emulated/lateness.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace paretopipe::shaping {

/// A link between two stages without privilege or kernel support: a relay that listens on a port of this host, connects
/// every caller on to the receiving stage's port, and forwards bytes both ways under the conditions of each direction:
/// delay, jitter, rate and burst (schedule.hpp says how). `forward` leads from the side that connects to the
/// side that listens. Conditions that shape nothing forward at once.
///
/// What it is not: there are no packets, so nothing is lost, reordered or duplicated, and TCP has nothing to react to.
/// No slow start, no recovery: B bytes over a delay d at a rate r take d + B/r from the first transfer on. Connecting
/// itself is not delayed, only what is sent.
///
/// A direction of a connection holds no more than buffer_limit() bytes (rate × delay + 4 MiB), beside the kernel's
/// buffers of its sockets; then the sender has to wait, as with a full socket buffer. A stream's end passes on after
/// the delay, direction by direction; a peer that is lost shows at the other side as a lost connection, also after the
/// delay.
///
/// Any number of connections may pass, one after another or at once. Each has the conditions to itself: two connections
/// do not share the rate.
///
/// One thread relays, and wakes to the nanosecond as far as the kernel lets it: some 4000 times a second at 500 Mbit/s,
/// which costs less than half a core with sender and receiver included. Where other work keeps every core busy it gets
/// its turn late, by milliseconds, and delays grow by as much; lateness() tells. Lateness does not add up: each byte's
/// time is fixed when it is read, which is the one wait that lateness() does not see.
///
/// All functions may be called from any thread.
class EmulatedLink {
 public:
  /// Listens on `listen_address` ("127.0.0.1", "::1"), at a port that the kernel chooses. `seed`: of the jitter; the
  /// same seed gives the same sequence for the same connections in the same order. Throws UsageError for conditions
  /// that it cannot keep (unsupported()), and EnvironmentError if it cannot listen.
  EmulatedLink(const std::string& listen_address, const config::LinkConditions& forward,
               const config::LinkConditions& backward, std::uint64_t seed);
  /// Stops at once: whatever is under way is dropped and every connection closed.
  ~EmulatedLink();
  EmulatedLink(const EmulatedLink&) = delete;
  EmulatedLink& operator=(const EmulatedLink&) = delete;

  /// Where to connect to instead of the receiving stage.
  std::uint16_t port() const;

  /// Where callers are connected to from now on; until then they wait, and nothing is read from them. The receiver must
  /// be listening already, for a refused connection is not tried again: its caller finds the connection reset.
  /// `address` is an IP address: of a name's several, one may be refused where another listens. Throws EnvironmentError
  /// for anything else.
  void lead_to(const std::string& address, std::uint16_t port);

  /// Other conditions, for every connection and what it sends from the return of this call on. Meant for the time
  /// between two trials: what is under way keeps its time, and nothing overtakes it. Sequences of jitter begin anew
  /// from `seed`. Throws UsageError for conditions that it cannot keep, which changes nothing.
  void set_conditions(const config::LinkConditions& forward, const config::LinkConditions& backward,
                      std::uint64_t seed);

  /// Counts anew how late the link hands on what passes it, of whichever connection. More than `tolerance` is late.
  void watch_lateness(Nanoseconds tolerance);

  /// What was counted since then; before that, since the beginning and with a tolerance of 1 ms.
  LatenessMeter lateness() const;

  /// What last went wrong with a connection, as a sentence to add to an error that this has led to; empty if nothing
  /// has.
  std::string last_problem() const;

 private:
  class Relay;
  std::unique_ptr<Relay> relay_;
};

}  // namespace paretopipe::shaping
