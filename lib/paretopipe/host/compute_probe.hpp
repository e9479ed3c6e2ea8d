#pragma once
#include <cstdint>

namespace paretopipe::host {

/// Measures how fast the calling thread's CPU is right now, in nanoseconds for a fixed piece of integer arithmetic. It
/// is the median of 15 pieces in a row, which take 2 to 3 ms in all on a CPU of 3 GHz. The arithmetic touches no memory
/// and makes no system call except for the clock, so only the core itself matters: its frequency, a neighbour on its
/// other hardware thread, and a virtual machine's host that takes the CPU away for more than half of the time. Results
/// are comparable on one CPU, but not between CPUs.
std::int64_t compute_probe_ns();

}  // namespace paretopipe::host
