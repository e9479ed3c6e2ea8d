#pragma once
#include <paretopipe/launch/file_descriptor.hpp>

#include <cstdint>
#include <string>

#include <sys/socket.h>

// Internal to shaping.
namespace paretopipe::shaping {

/// The destination of a link.
struct EmulatedTarget {
  sockaddr_storage storage{};
  socklen_t size = 0;
  std::string name;  ///< "127.0.0.1:5000", as requested

  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// `ip` is an IP address; throws EnvironmentError for anything else.
EmulatedTarget find_target(const std::string& ip, std::uint16_t port);

/// A non-blocking socket that is connecting to the target. It becomes writable when the outcome is known. If `error` is
/// not 0, it has failed.
launch::FileDescriptor start_connecting(const EmulatedTarget& target, int& error);

/// The outcome of connecting: 0, or the errno of the failure.
int how_connecting_went(int socket);

/// For every relaying socket: sends small pieces at once.
void send_at_once(int socket);

/// Makes closing the socket tell the peer that the connection was lost, not that it ended.
void reset_on_close(int socket);

}  // namespace paretopipe::shaping
