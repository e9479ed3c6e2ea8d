#include "bare_socket.hpp"

#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/host/cpu_set.hpp>
#include <paretopipe/stats/quantile.hpp>

#include <cerrno>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paretopipe::bench {
namespace {

int checked(int result, const char* attempt) {
  if (result < 0) throw system_error(attempt, errno);
  return result;
}

int listen_on_loopback(sockaddr_in& address) {
  const int listener = checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  checked(::bind(listener, reinterpret_cast<const sockaddr*>(&address), size), "bind");
  checked(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  checked(::listen(listener, 1), "listen");
  return listener;
}

void disable_nagle(int socket) {
  const int on = 1;
  checked(::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "TCP_NODELAY");
}

}  // namespace

Peers make_peers(const std::function<void(int)>& other_side) {
  static const auto cpus = host::current_affinity();
  sockaddr_in address{};
  const int listener = listen_on_loopback(address);
  Peers peers;
  peers.other = checked(::fork(), "fork");
  if (peers.other == 0) {
    host::set_affinity({cpus.back()});
    const int socket = checked(::accept(listener, nullptr, nullptr), "accept");
    disable_nagle(socket);
    other_side(socket);
    ::_exit(0);
  }
  host::set_affinity({cpus.front()});
  peers.here = checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  checked(::connect(peers.here, reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
  disable_nagle(peers.here);
  ::close(listener);
  return peers;
}

void end(const Peers& peers) {
  if (peers.here >= 0) ::close(peers.here);
  ::waitpid(peers.other, nullptr, 0);
}

void send_all(int socket, const void* data, std::size_t bytes) {
  for (const char* rest = static_cast<const char*>(data); bytes > 0;) {
    const auto sent =
        static_cast<std::size_t>(checked(static_cast<int>(::send(socket, rest, bytes, MSG_NOSIGNAL)), "send"));
    rest += sent;
    bytes -= sent;
  }
}

void receive_all(int socket, void* data, std::size_t bytes) {
  for (char* rest = static_cast<char*>(data); bytes > 0;) {
    const auto got = static_cast<std::size_t>(checked(static_cast<int>(::recv(socket, rest, bytes, 0)), "recv"));
    if (got == 0) throw EnvironmentError("the other side of the benchmark ended early");
    rest += got;
    bytes -= got;
  }
}

double bare_round_trip_ns(std::size_t payload, std::size_t reply, int rounds) {
  std::vector<char> buffer(std::max(payload, reply), 'x');
  const auto peers = make_peers([&](int socket) {
    for (int i = 0; i < rounds; ++i) {
      receive_all(socket, buffer.data(), payload);
      send_all(socket, buffer.data(), reply);
    }
  });
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const auto begin = now_ns();
    send_all(peers.here, buffer.data(), payload);
    receive_all(peers.here, buffer.data(), reply);
    times.push_back(static_cast<double>(now_ns() - begin));
  }
  end(peers);
  return *stats::median(times);
}

}  // namespace paretopipe::bench
