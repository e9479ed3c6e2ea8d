#pragma once
#include <paretopipe/launch/file_descriptor.hpp>

#include <cstdint>
#include <string>

#include <sys/socket.h>

// Internal to shaping.
namespace paretopipe::shaping {

/// Where a link leads to.
struct EmulatedTarget {
  sockaddr_storage storage{};
  socklen_t size = 0;
  std::string name;  ///< "127.0.0.1:5000", as it was asked for

  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// `ip` is an IP address; throws EnvironmentError for anything else.
EmulatedTarget find_target(const std::string& ip, std::uint16_t port);

/// A non-blocking socket that is on its way to the target: writable once it is known how that went. With `error` at
/// something else than 0 it is hopeless.
launch::FileDescriptor start_connecting(const EmulatedTarget& target, int& error);

/// How connecting went: 0, or the errno of why not.
int how_connecting_went(int socket);

/// What every relaying socket wants: small pieces go at once.
void send_at_once(int socket);

/// Closing the socket will tell the peer that the connection was lost, not that it ended.
void reset_on_close(int socket);

}  // namespace paretopipe::shaping
