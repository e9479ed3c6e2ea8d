#include "bare_socket.hpp"

#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
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

/// Writes the tensor and takes the time, most of it asleep.
void compute(std::int64_t duration_ns, std::vector<char>& tensor, std::size_t bytes) {
  constexpr std::int64_t kAwakeNs = 100'000;
  const auto deadline = now_ns() + duration_ns;
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  std::fill_n(tensor.begin(), bytes, static_cast<char>(deadline));
  const auto wake = deadline - kAwakeNs;
  const timespec asleep_until{wake / 1'000'000'000, wake % 1'000'000'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &asleep_until, nullptr);
  while (now_ns() < deadline) {
  }
}

}  // namespace

Peers make_peers(const std::function<void(int)>& other_side) {
  const auto cpus = host::current_affinity();
  sockaddr_in address{};
  const int listener = listen_on_loopback(address);
  Peers peers;
  peers.former_affinity = cpus;
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
  host::set_affinity(peers.former_affinity);
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

double bare_round_trip_ns(const Exchange& exchange, int rounds) {
  std::vector<char> buffer(std::max(exchange.payload, exchange.reply), 'x');
  const auto peers = make_peers([&](int socket) {
    for (int i = 0; i < rounds; ++i) {
      receive_all(socket, buffer.data(), exchange.payload);
      compute(exchange.compute_there_ns, buffer, exchange.reply);
      send_all(socket, buffer.data(), exchange.reply);
    }
  });
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    compute(exchange.compute_here_ns, buffer, exchange.payload);
    const auto begin = now_ns();
    send_all(peers.here, buffer.data(), exchange.payload);
    receive_all(peers.here, buffer.data(), exchange.reply);
    times.push_back(static_cast<double>(now_ns() - begin - exchange.compute_there_ns));
  }
  end(peers);
  return *stats::median(times);
}

}  // namespace paretopipe::bench
