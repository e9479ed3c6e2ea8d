#pragma once
#include <cstdint>

namespace paretopipe::host {

/// How fast the calling thread's CPU is right now: nanoseconds that one fixed piece of integer arithmetic took, the
/// median of 15 pieces in a row, 2 to 3 ms in all on a CPU of 3 GHz. It touches no memory and makes no system call but
/// for the clock, so only the core itself shows in it: its frequency, a neighbour on its other hardware thread, the
/// host of a virtual machine that takes it away for more than half of the time. Comparable on one CPU, not between
/// CPUs.
std::int64_t compute_probe_ns();

}  // namespace paretopipe::host
