#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

/// What queueing theory says of a server that takes customers in the order of their arrival.
namespace paretopipe::support {

/// How long each customer waits until its service begins: W(n + 1) = max(0, W(n) + service − gap between n and n + 1)
/// (Lindley, The theory of queues with a single server, 1952).
inline std::vector<std::int64_t> lindley_waits(const std::vector<std::int64_t>& arrivals, std::int64_t service_ns) {
  std::vector<std::int64_t> waits(arrivals.size(), 0);
  for (std::size_t i = 1; i < arrivals.size(); ++i) {
    waits[i] = std::max<std::int64_t>(0, waits[i - 1] + service_ns - (arrivals[i] - arrivals[i - 1]));
  }
  return waits;
}

/// Mean wait in an M/D/1 queue of load rho < 1, from Pollaczek and Khinchine's formula.
inline double md1_mean_wait_ns(double rho, double service_ns) {
  return rho * service_ns / (2 * (1 - rho));
}

}  // namespace paretopipe::support
