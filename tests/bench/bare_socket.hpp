#pragma once
#include <cstdint>
#include <functional>

#include <sys/types.h>

namespace paretopipe::bench {

/// The two ends of a TCP connection over loopback, each with a CPU of its own, in two processes.
struct Peers {
  int here = -1;
  pid_t other = -1;
};

/// Forks a process that runs `other_side` on its end, pinned to the last CPU, and ends; the caller is pinned to the
/// first.
Peers make_peers(const std::function<void(int)>& other_side);

/// Closes this end and waits for the other process.
void end(const Peers& peers);

void send_all(int socket, const void* data, std::size_t bytes);
void receive_all(int socket, void* data, std::size_t bytes);

/// Median time of sending `payload` bytes and getting `reply` bytes back, with nothing but send(2) and recv(2).
double bare_round_trip_ns(std::size_t payload, std::size_t reply, int rounds);

}  // namespace paretopipe::bench
