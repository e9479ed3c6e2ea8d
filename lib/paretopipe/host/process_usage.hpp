#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include <sys/types.h>

#include <nlohmann/json.hpp>

namespace paretopipe::host {

/// What the calling process used between two readings (getrusage(2), all threads).
struct ProcessUsage {
  std::int64_t user_time_ns = 0;
  std::int64_t system_time_ns = 0;
  std::int64_t minor_page_faults = 0;
  std::int64_t major_page_faults = 0;
  std::int64_t voluntary_context_switches = 0;
  std::int64_t involuntary_context_switches = 0;

  bool operator==(const ProcessUsage&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProcessUsage, user_time_ns, system_time_ns, minor_page_faults, major_page_faults,
                                   voluntary_context_switches, involuntary_context_switches)

/// Of the process since its start.
ProcessUsage read_process_usage();
ProcessUsage operator-(const ProcessUsage& after, const ProcessUsage& before);
/// Of two spans of time together.
ProcessUsage operator+(const ProcessUsage& left, const ProcessUsage& right);

/// Another process, as the kernel sees it at the moment.
struct ProcessState {
  char state = '?';  ///< proc(5): R runs, S sleeps, D waits for a disk, T is stopped, t is held by a debugger
  std::int64_t cpu_time_ns = 0;  ///< since its start, counted in ticks of 10 ms

  bool operator==(const ProcessState&) const = default;
};

/// Absent where there is no such process, or /proc does not tell.
std::optional<ProcessState> read_process_state(pid_t process);

/// From the text of /proc/PID/stat.
std::optional<ProcessState> parse_process_state(std::string_view stat);

/// Resets the kernel's high-water mark of resident memory (proc(5), clear_refs). Returns false where not permitted: the
/// peak then covers the whole life of the process.
bool reset_peak_rss();

/// VmHWM of the calling process; absent where /proc is not readable.
std::optional<std::int64_t> read_peak_rss_bytes();

/// What a stage needs to compute its blocks, whatever else its process holds.
struct StageMemory {
  std::int64_t weights_bytes = 0;   ///< of its blocks, as the process holds them
  std::int64_t prepared_bytes = 0;  ///< of what was made of them beforehand: their graph's own tensors
  std::int64_t tensors_bytes = 0;   ///< of what lives at once while it computes: activations and buffers

  std::int64_t total() const { return weights_bytes + prepared_bytes + tensors_bytes; }
  bool operator==(const StageMemory&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageMemory, weights_bytes, prepared_bytes, tensors_bytes)

}  // namespace paretopipe::host
