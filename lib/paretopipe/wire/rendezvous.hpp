#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/wire/link.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

// How two stages find each other over TCP: one listens; the other connects and greets with a token known to both. The
// token keeps accidents out (port scanners, a stage of another sweep), but not attackers: it crosses the network in the
// clear.
namespace paretopipe::wire {

/// A listening TCP socket, close-on-exec. Not thread-safe; different listeners are independent.
class Listener {
 public:
  /// `address`: an IP address or name of this host, e.g. "127.0.0.1", "::1", "0.0.0.0". Port 0 lets the kernel choose.
  /// Throws EnvironmentError, with advice, if it cannot listen there.
  Listener(const std::string& address, std::uint16_t port);
  Listener(Listener&&) noexcept;
  Listener& operator=(Listener&&) noexcept;
  ~Listener();

  std::uint16_t port() const;
  /// "127.0.0.1:5000", with the port actually bound.
  const std::string& name() const;
  /// Readable (POLLIN) when somebody has connected. The listener keeps ownership.
  int native_handle() const;

 private:
  friend Link accept_peer(Listener& listener, std::uint64_t token, Clock::time_point deadline);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Connects to a Listener and greets. While nobody listens there yet or the host cannot be reached, tries again until
/// the deadline, and at least once. Returns as soon as the greeting is on its way, without waiting for accept_peer: the
/// stages of a ring may all connect first and accept then. So a wrong token shows as the end of the stream at the first
/// use. Throws EnvironmentError with the last reason at the deadline, and at once for a host name that does not exist.
/// Only the system's name resolver may overrun the deadline.
Link connect_peer(const std::string& host, std::uint16_t port, std::uint64_t token, Clock::time_point deadline);

/// Waits for the peer that greets with `token`. Turns all others away: a wrong token, anything that is not a greeting,
/// or silence for ten seconds. Strangers do not delay the peer, because all callers are read from at once. At the
/// deadline, throws EnvironmentError with the number of strangers turned away and the reason for the last one. A
/// connection that is still silent at the end of a call is kept for the next call on the same listener. One that
/// greeted with another token is closed, so peers with different tokens need different listeners or must come in order.
/// Clock::time_point::max() waits for ever.
Link accept_peer(Listener& listener, std::uint64_t token, Clock::time_point deadline);

}  // namespace paretopipe::wire
