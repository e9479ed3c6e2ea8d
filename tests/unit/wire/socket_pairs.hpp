#pragma once
#include <paretopipe/wire/link.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <sys/socket.h>

/// A connected stream socket without any protocol on top: the end that misbehaves in a test.
class RawSocket {
 public:
  explicit RawSocket(int fd) : fd_(fd) {}
  RawSocket(RawSocket&& other) noexcept : fd_(other.release()) {}
  RawSocket& operator=(RawSocket&&) = delete;
  ~RawSocket() { close(); }

  void send(const void* data, std::size_t size);
  template <class Bytes>
  void send(const Bytes& bytes) {
    send(bytes.data(), bytes.size());
  }
  /// Waits until so many bytes have come. Throws if the stream ends before.
  std::vector<std::byte> receive(std::size_t size);
  void close();
  /// Closes with a reset instead of the orderly end of a stream.
  void reset();
  int fd() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// The kinds of socket that a link must work over: every test of links runs over each.
struct TcpLoopback {
  static std::pair<RawSocket, RawSocket> connect();
};

struct Socketpair {
  static std::pair<RawSocket, RawSocket> connect();
};

/// Waits for who calls next at a listening socket.
RawSocket accept_raw(int listener);

/// Binds the socket to a port of 127.0.0.1 that nobody has. Returns the port.
std::uint16_t bind_to_free_port(const RawSocket& socket);

/// Connects to 127.0.0.1:port.
RawSocket connect_raw(std::uint16_t port);

template <class Kind>
std::pair<paretopipe::wire::Link, paretopipe::wire::Link> make_links() {
  auto [a, b] = Kind::connect();
  return {paretopipe::wire::Link(a.release()), paretopipe::wire::Link(b.release())};
}

template <class Kind>
std::pair<paretopipe::wire::Link, RawSocket> make_link_and_raw() {
  auto [a, b] = Kind::connect();
  return {paretopipe::wire::Link(a.release()), std::move(b)};
}
