#pragma once
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/shaping/emulated/schedule.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace paretopipe::shaping {

/// A link between two stages without privilege or kernel support: a relay that listens on a port of this host, connects
/// every caller to the receiving stage's port, and forwards bytes both ways under the conditions of each direction:
/// delay, jitter, rate and burst (see schedule.hpp). `forward` leads from the connecting side to the listening side.
/// Conditions that shape nothing forward at once.
///
/// Limits: there are no packets, so nothing is lost, reordered or duplicated, and TCP has nothing to react to: no slow
/// start, no recovery. B bytes over a delay d at a rate r take d + B/r from the first transfer on. Only data are
/// delayed, not connecting.
///
/// A direction of a connection holds at most buffer_limit() bytes (rate × delay + 4 MiB), beside the kernel's socket
/// buffers; then the sender has to wait, as with a full socket buffer. The end of a stream is passed on after the
/// delay, separately in each direction. A lost peer shows on the other side as a lost connection, also after the delay.
///
/// Any number of connections may pass, one after another or at once. Each has the full conditions to itself: two
/// connections do not share the rate.
///
/// One thread relays, with wake-ups as exact as the kernel allows: some 4000 a second at 500 Mbit/s, which costs less
/// than half a core including sender and receiver. If other work keeps every core busy, the thread runs milliseconds
/// late and delays grow by as much; lateness() tells. Lateness does not add up: each byte's time is fixed when it is
/// read. lateness() does not see the wait before that read.
///
/// All functions may be called from any thread.
class EmulatedLink {
 public:
  /// Listens on `listen_address` ("127.0.0.1", "::1"), at a port that the kernel chooses. `seed`: of the jitter; the
  /// same seed gives the same sequence for the same connections in the same order. Throws UsageError for conditions
  /// that it cannot keep (unsupported()), and EnvironmentError if it cannot listen.
  EmulatedLink(const std::string& listen_address, const experiment::LinkConditions& forward,
               const experiment::LinkConditions& backward, std::uint64_t seed);
  /// Stops at once: drops all data under way and closes every connection.
  ~EmulatedLink();
  EmulatedLink(const EmulatedLink&) = delete;
  EmulatedLink& operator=(const EmulatedLink&) = delete;

  /// The port to connect to instead of the receiving stage's.
  std::uint16_t port() const;

  /// Sets where callers are connected to from now on; until then they wait, and nothing is read from them. The receiver
  /// must already be listening: a refused connection is not tried again, and its caller finds it reset. `address` is an
  /// IP address, because one of a name's several addresses may refuse while another listens. Throws EnvironmentError
  /// for anything else.
  void lead_to(const std::string& address, std::uint16_t port);

  /// Sets other conditions for everything that any connection sends after this call returns. Meant for the time between
  /// two trials: data under way keep their time, and nothing overtakes them. Jitter sequences restart from `seed`.
  /// Throws UsageError for conditions that it cannot keep, and then changes nothing.
  void set_conditions(const experiment::LinkConditions& forward, const experiment::LinkConditions& backward,
                      std::uint64_t seed);

  /// Restarts the count of lateness over all connections. More than `tolerance` is late.
  void watch_lateness(Nanoseconds tolerance);

  /// The lateness counted since then; before the first call, since the beginning and with a tolerance of 1 ms.
  LatenessMeter lateness() const;

  /// The last problem with a connection, as a sentence to add to an error that it caused; empty if there was none.
  std::string last_problem() const;

 private:
  class Relay;
  std::unique_ptr<Relay> relay_;
};

}  // namespace paretopipe::shaping
