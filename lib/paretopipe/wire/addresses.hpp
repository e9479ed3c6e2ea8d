#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/socket.h>

// Internal to wire: converts between names and socket addresses.
namespace paretopipe::wire {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

/// Empty if the resolver has no answer now and may have one later (EAI_AGAIN). Throws EnvironmentError for a name that
/// does not exist. Waits as long as the system's resolver does. `passive`: for listening.
std::vector<Address> resolve(const std::string& host, std::uint16_t port, bool passive);

/// "127.0.0.1:5000", "[::1]:5000"; "socketpair" for AF_UNIX.
std::string to_string(const Address& address);

/// Throws EnvironmentError if the kernel refuses.
Address local_address(int fd);

/// Nothing if `fd` is not connected, or no longer: a peer may vanish at any moment, so this does not throw.
std::optional<Address> peer_address(int fd);

/// 0 if the family has no ports.
std::uint16_t port_of(const Address& address);

/// "name:5000", with brackets around an IPv6 address. For error messages.
std::string host_and_port(const std::string& host, std::uint16_t port);

}  // namespace paretopipe::wire
