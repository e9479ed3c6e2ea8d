#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/emulated/target.hpp>

#include <cerrno>
#include <cstring>
#include <memory>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <netdb.h>

namespace paretopipe::shaping {
namespace {

std::string address_and_port(const std::string& ip, std::uint16_t port) {
  return ip.find(':') == std::string::npos ? fmt::format("{}:{}", ip, port) : fmt::format("[{}]:{}", ip, port);
}

/// The kernel may give a connecting socket the very port that it calls. If nobody listens there, TCP's simultaneous
/// open (RFC 9293, 3.5) then connects the socket to itself, and a sender would hear its own echo.
bool connected_to_itself(int socket) {
  sockaddr_storage own{};
  sockaddr_storage peer{};
  socklen_t own_size = sizeof(own);
  socklen_t peer_size = sizeof(peer);
  return ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_size) == 0 &&
         ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0 && own_size == peer_size &&
         std::memcmp(&own, &peer, own_size) == 0;
}

}  // namespace

EmulatedTarget find_target(const std::string& ip, std::uint16_t port) {
  EmulatedTarget target;
  target.name = address_and_port(ip, port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* first = nullptr;
  const int failure = ::getaddrinfo(ip.c_str(), std::to_string(port).c_str(), &hints, &first);
  if (failure != 0) {
    throw EnvironmentError(
        fmt::format("lead an emulated link to {}: {}; give an IP address", target.name, ::gai_strerror(failure)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(first, ::freeaddrinfo);
  std::memcpy(&target.storage, first->ai_addr, first->ai_addrlen);
  target.size = first->ai_addrlen;
  return target;
}

launch::FileDescriptor start_connecting(const EmulatedTarget& target, int& error) {
  launch::FileDescriptor socket(::socket(target.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  error = 0;
  if (socket.get() < 0) {
    error = errno;
  } else if (::connect(socket.get(), target.address(), target.size) != 0 && errno != EINPROGRESS && errno != EINTR) {
    error = errno;
  }
  return socket;
}

int how_connecting_went(int socket) {
  int error = 0;
  socklen_t size = sizeof(error);
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error == 0 && connected_to_itself(socket) ? ECONNREFUSED : error;
}

void send_at_once(int socket) {
  const int on = 1;
  // Fails only for a connection that is already lost.
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void reset_on_close(int socket) {
  const linger at_once{1, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

}  // namespace paretopipe::shaping
