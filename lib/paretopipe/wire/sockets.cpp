#include "sockets.hpp"

#include <array>
#include <cstring>
#include <memory>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <netdb.h>

namespace paretopipe::wire {

std::vector<Address> resolve(const std::string& host, std::uint16_t port, bool passive) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  addrinfo* first = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &first);
  if (failure == EAI_AGAIN) return {};
  if (failure != 0) {
    throw EnvironmentError(fmt::format("look up the host \"{}\": {}; check the name, or give its IP address", host,
                                       ::gai_strerror(failure)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(first, ::freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* info = first; info != nullptr; info = info->ai_next) {
    auto& address = addresses.emplace_back();
    std::memcpy(&address.storage, info->ai_addr, info->ai_addrlen);
    address.size = info->ai_addrlen;
  }
  return addresses;
}

std::string ip_of(const std::string& host, std::uint16_t port) {
  const auto addresses = resolve(host, port, false);
  if (addresses.empty()) {
    throw EnvironmentError(
        fmt::format("lead a link to {}: the resolver has no address for it now; write its IP address into the devices "
                    "file",
                    host));
  }
  std::array<char, NI_MAXHOST> text{};
  const auto& first = addresses.front();
  if (::getnameinfo(first.get(), first.size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) return host;
  return text.data();
}

std::string to_string(const Address& address) {
  if (address.family() == AF_UNIX) return "socketpair";
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  const int failure = ::getnameinfo(address.get(), address.size, host.data(), host.size(), port.data(), port.size(),
                                    NI_NUMERICHOST | NI_NUMERICSERV);
  if (failure != 0) return fmt::format("an address of family {}", address.family());
  return address.family() == AF_INET6 ? fmt::format("[{}]:{}", host.data(), port.data())
                                      : fmt::format("{}:{}", host.data(), port.data());
}

Address local_address(int fd) {
  Address address;
  address.size = sizeof(address.storage);
  if (::getsockname(fd, address.get(), &address.size) != 0) throw system_error("ask for a socket's own address", errno);
  return address;
}

std::optional<Address> peer_address(int fd) {
  Address address;
  address.size = sizeof(address.storage);
  if (::getpeername(fd, address.get(), &address.size) != 0) return std::nullopt;
  return address;
}

int outcome_of_connecting(int fd) {
  int error = 0;
  socklen_t size = sizeof(error);
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  if (error != 0) return error;
  const auto peer = peer_address(fd);
  if (!peer) return ECONNRESET;
  const auto own = local_address(fd);
  const bool itself = peer->size == own.size && std::memcmp(&peer->storage, &own.storage, own.size) == 0;
  return itself ? ECONNREFUSED : 0;
}

void send_at_once(int fd) {
  const int family = local_address(fd).family();
  const int on = 1;
  if ((family == AF_INET || family == AF_INET6) && ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0) {
    throw system_error("set TCP_NODELAY", errno);
  }
}

std::uint16_t port_of(const Address& address) {
  if (address.family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address.storage).sin_port);
  if (address.family() == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_port);
  return 0;
}

std::string host_and_port(const std::string& host, std::uint16_t port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

}  // namespace paretopipe::wire
