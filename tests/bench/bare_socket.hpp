#pragma once
#include <paretopipe/host/cpu_set.hpp>

#include <cstdint>
#include <functional>

#include <sys/types.h>

namespace paretopipe::bench {

/// The two ends of a TCP connection over loopback, each with a CPU of its own, in two processes.
struct Peers {
  int here = -1;
  pid_t other = -1;
  host::CpuSet former_affinity;  ///< of the caller
};

/// Forks a process that runs `other_side` on its end, pinned to the last CPU, and ends; the caller is pinned to the
/// first.
Peers make_peers(const std::function<void(int)>& other_side);

/// Closes this end, waits for the other process, and lets the caller go back to the CPUs that it came from.
void end(const Peers& peers);

void send_all(int socket, const void* data, std::size_t bytes);
void receive_all(int socket, void* data, std::size_t bytes);

/// What two stages exchange for a batch, and how long each computes before it sends.
struct Exchange {
  std::int64_t compute_here_ns = 0;
  std::int64_t compute_there_ns = 0;
  std::size_t payload = 0;
  std::size_t reply = 0;
};

/// Median time of sending `payload` bytes and getting `reply` bytes back, less the computing in between, with nothing
/// but send(2) and recv(2). Both sides write their tensor, sleep and wake as a synthetic stage does, for a transfer
/// between two that never rest finds caches and clocks warmer than any pipeline does.
double bare_round_trip_ns(const Exchange& exchange, int rounds);

}  // namespace paretopipe::bench
