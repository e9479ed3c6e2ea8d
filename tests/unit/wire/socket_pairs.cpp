#include "socket_pairs.hpp"

#include <paretopipe/core/error.hpp>

#include <array>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

namespace {

void require(bool done, const char* attempt) {
  if (!done) throw paretopipe::system_error(attempt, errno);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

void RawSocket::send(const void* data, std::size_t size) {
  require(::send(fd_, data, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size), "send");
}

std::vector<std::byte> RawSocket::receive(std::size_t size) {
  std::vector<std::byte> bytes(size);
  require(::recv(fd_, bytes.data(), size, MSG_WAITALL) == static_cast<ssize_t>(size), "receive");
  return bytes;
}

void RawSocket::close() {
  if (fd_ >= 0) ::close(release());
}

void RawSocket::reset() {
  const linger hard{1, 0};
  require(::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)) == 0, "set SO_LINGER");
  close();
}

std::uint16_t bind_to_free_port(const RawSocket& socket) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  require(::bind(socket.fd(), reinterpret_cast<sockaddr*>(&address), size) == 0, "bind");
  require(::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &size) == 0, "getsockname");
  return ntohs(address.sin_port);
}

RawSocket connect_raw(std::uint16_t port) {
  RawSocket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  require(::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0, "connect");
  return socket;
}

RawSocket accept_raw(int listener) {
  pollfd waiting{listener, POLLIN, 0};
  require(::poll(&waiting, 1, 60'000) == 1, "wait for a caller");
  const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  require(fd >= 0, "accept");
  return RawSocket(fd);
}

std::pair<RawSocket, RawSocket> TcpLoopback::connect() {
  const RawSocket listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto port = bind_to_free_port(listener);
  require(::listen(listener.fd(), 1) == 0, "listen");
  RawSocket a = connect_raw(port);
  RawSocket b(::accept(listener.fd(), nullptr, nullptr));
  return {std::move(a), std::move(b)};
}

std::pair<RawSocket, RawSocket> Socketpair::connect() {
  std::array<int, 2> fds{};
  require(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()) == 0, "socketpair");
  return {RawSocket(fds[0]), RawSocket(fds[1])};
}
