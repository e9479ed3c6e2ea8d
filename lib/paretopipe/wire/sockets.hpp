#pragma once
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

// Sockets and their addresses, for this folder and for the emulated link.
namespace paretopipe::wire {

/// poll(2) until a deadline. Returns the number of ready descriptors. Also returns 0 after a signal and on very long
/// waits, so the caller must check the clock itself. Throws EnvironmentError if the kernel refuses.
inline int poll_until(std::span<pollfd> waiting, Clock::time_point deadline) {
  const int ready = ::poll(waiting.data(), waiting.size(), poll_timeout(deadline));
  if (ready < 0 && errno != EINTR) throw system_error("wait for a socket", errno);
  return std::max(ready, 0);
}

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

/// The addresses of a host. Empty if the resolver has no answer now and may have one later (EAI_AGAIN). Throws
/// EnvironmentError for a name that does not exist. Waits as long as the system's resolver does. `passive`: for
/// listening.
std::vector<Address> resolve(const std::string& host, std::uint16_t port, bool passive);

/// The numeric address of a host, for what cannot wait for a resolver. Throws EnvironmentError if there is none now.
std::string ip_of(const std::string& host, std::uint16_t port);

/// "127.0.0.1:5000", "[::1]:5000"; "socketpair" for AF_UNIX.
std::string to_string(const Address& address);

/// Throws EnvironmentError if the kernel refuses.
Address local_address(int fd);

/// Nothing if `fd` is not connected, or no longer: a peer may vanish at any moment, so this does not throw.
std::optional<Address> peer_address(int fd);

/// The outcome of a connect(2) that did not wait: 0, or the errno of the failure. The kernel may choose the called port
/// as the caller's own. If nobody listens there, TCP's simultaneous open (RFC 9293, 3.5) then connects the socket to
/// itself, which counts as refused. On loopback a few thousand tries suffice.
int outcome_of_connecting(int fd);

/// Sets TCP_NODELAY, without which a small message waits until the peer has acknowledged the one before, 40 ms at
/// worst. Does nothing to a socket of another kind. Throws EnvironmentError if the kernel refuses.
void send_at_once(int fd);

/// 0 if the family has no ports.
std::uint16_t port_of(const Address& address);

/// "name:5000", with brackets around an IPv6 address. For error messages.
std::string host_and_port(const std::string& host, std::uint16_t port);

}  // namespace paretopipe::wire
