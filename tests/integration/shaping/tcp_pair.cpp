#include "tcp_pair.hpp"

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

namespace paretopipe::testing {
namespace {

void prepare(const FileDescriptor& socket) {
  const timeval minute{60, 0};
  const int on = 1;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof(minute)) != 0 ||
      ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &minute, sizeof(minute)) != 0 ||
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0) {
    throw std::runtime_error("set up a test's socket");
  }
}

/// recv's result for one byte; -errno for an error.
long receive_one(const FileDescriptor& socket) {
  std::byte byte{};
  const auto count = ::recv(socket.get(), &byte, 1, 0);
  return count < 0 ? -errno : count;
}

}  // namespace

TcpReceiver::TcpReceiver() : listener_("127.0.0.1", {}) {}

FileDescriptor TcpReceiver::accept() {
  pollfd waiting{listener_.native_handle(), POLLIN, 0};
  if (::poll(&waiting, 1, 60'000) != 1) throw std::runtime_error("nobody connected");
  FileDescriptor socket(::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC));
  prepare(socket);
  return socket;
}

TcpPair TcpReceiver::connect_through(const shaping::EmulatedLink& link) {
  auto sender = connect_to(link.port());
  return {std::move(sender), accept()};
}

FileDescriptor connect_to(std::uint16_t port) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    throw std::runtime_error("connect to the emulated link");
  }
  prepare(socket);
  return socket;
}

std::vector<std::byte> pattern(std::size_t size, std::size_t seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((i * 31 + seed * 7 + i / 4096) & 0xff);
  return bytes;
}

bool send_all(const FileDescriptor& socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto count = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

std::vector<std::byte> receive(const FileDescriptor& socket, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::size_t got = 0;
  while (got < size) {
    const auto count = ::recv(socket.get(), bytes.data() + got, size - got, 0);
    if (count <= 0) break;
    got += static_cast<std::size_t>(count);
  }
  bytes.resize(got);
  return bytes;
}

bool has_ended(const FileDescriptor& socket) {
  return receive_one(socket) == 0;
}

bool was_reset(const FileDescriptor& socket) {
  return receive_one(socket) == -ECONNRESET;
}

void end_stream(const FileDescriptor& socket) {
  ::shutdown(socket.get(), SHUT_WR);
}

void reset(FileDescriptor& socket) {
  const linger at_once{1, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  socket.reset();
}

double transfer_seconds(const TcpPair& pair, std::span<const std::byte> bytes) {
  const auto start = Clock::now();
  std::thread sending([&] { send_all(pair.sender, bytes); });
  const bool complete = receive(pair.receiver, bytes.size()).size() == bytes.size();
  const auto end = Clock::now();
  sending.join();
  if (!complete) throw std::runtime_error("a transfer came to a premature end");
  return std::chrono::duration<double>(end - start).count();
}

double round_trip_seconds(const TcpPair& pair, std::size_t bytes) {
  std::thread answering([&] { send_all(pair.receiver, receive(pair.receiver, bytes)); });
  const auto message = pattern(bytes, 0);
  const auto start = Clock::now();
  send_all(pair.sender, message);
  const bool complete = receive(pair.sender, bytes).size() == bytes;
  const auto end = Clock::now();
  answering.join();
  if (!complete) throw std::runtime_error("an answer came to a premature end");
  return std::chrono::duration<double>(end - start).count();
}

}  // namespace paretopipe::testing
