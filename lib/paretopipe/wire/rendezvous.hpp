#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/wire/handshake.hpp>
#include <paretopipe/wire/link.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

// How two stages find each other over TCP: one listens, the other connects, and both prove that they have the same key
// (handshake.hpp) before anything else is read.
namespace paretopipe::wire {

/// The ports from `first` to `last`, both included, that a firewall lets through. 0 to 0: whichever the kernel chooses.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
};

/// A listening TCP socket, close-on-exec. Only `shutdown` may be called from any thread; different listeners are
/// independent.
class Listener {
 public:
  /// `address`: an IP address or name of this host, e.g. "127.0.0.1", "::1", "0.0.0.0". Takes the first free port of
  /// `ports`. Throws EnvironmentError, with advice, if it cannot listen there, and UsageError for ports that are no
  /// range.
  Listener(const std::string& address, PortRange ports);
  Listener(Listener&&) noexcept;
  Listener& operator=(Listener&&) noexcept;
  ~Listener();

  std::uint16_t port() const;
  /// "127.0.0.1:5000", with the port actually bound.
  const std::string& name() const;
  /// Readable (POLLIN) when somebody has connected. The listener keeps ownership.
  int native_handle() const;

  /// Ends a waiting accept_peer, and every later one, with Closed. Idempotent; never throws.
  void shutdown() noexcept;

 private:
  friend Link accept_peer(Listener& listener, const LinkSecurity& security, Clock::time_point deadline);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Connects to a Listener. Tries at least once. Tries again until the deadline while nobody listens there, the host
/// cannot be reached, or the other side does not answer or hangs up before it has proved anything. Returns when the
/// other side has proved that it has the key. For that it must call accept_peer, so whoever waits for two peers does it
/// at the same time. Throws EnvironmentError with the last reason at the deadline, and at once for a host name that
/// does not exist, a peer that is not paretopipe, and one that does not have the key. Only the system's name resolver
/// may overrun the deadline.
Link connect_peer(const std::string& host, std::uint16_t port, const LinkSecurity& security,
                  Clock::time_point deadline);

/// Waits for the peer that proves that it has the key. Turns all others away: another key, anything that is not a
/// handshake, or one that takes longer than ten seconds. Strangers do not delay the peer, because all callers are
/// served at once. At the deadline, throws EnvironmentError with the number of strangers turned away and the reason for
/// the last one. A connection that is in the middle of its handshake at the end of a call is kept for the next call on
/// the same listener. One with another key or purpose is closed, so different peers need different listeners or must
/// come in order. Clock::time_point::max() waits for ever.
Link accept_peer(Listener& listener, const LinkSecurity& security, Clock::time_point deadline);

/// The two links of a member of a ring: with the one that connects to it, and with the one that it connects to.
struct RingLinks {
  Link previous;
  Link next;
};

/// A member's place in a ring.
struct RingPlace {
  LinkSecurity incoming;  ///< of the link with the previous member
  std::string next_host;
  std::uint16_t next_port = 0;
  LinkSecurity outgoing;  ///< of the link with the next one
};

/// Runs connect_peer and accept_peer at the same time: each end of a link waits for the other's proof, so members that
/// all connected first would wait for each other. If connecting fails, shuts the listener down; before the deadline it
/// does not wait any longer for a peer. If connecting fails, throws Error with the exit code of that
/// failure, and both reasons if both failed; otherwise what accept_peer throws.
RingLinks join_ring(Listener& listener, const RingPlace& place, Clock::time_point deadline);

}  // namespace paretopipe::wire
