#pragma once
#include <paretopipe/core/json_fields.hpp>

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
PARETOPIPE_JSON(ProcessUsage, user_time_ns, system_time_ns, minor_page_faults, major_page_faults,
                voluntary_context_switches, involuntary_context_switches)

/// The usage of the process since its start.
ProcessUsage read_process_usage();
ProcessUsage operator-(const ProcessUsage& after, const ProcessUsage& before);
/// The usage over two spans of time.
ProcessUsage operator+(const ProcessUsage& left, const ProcessUsage& right);

/// The current state of another process, as the kernel reports it.
struct ProcessState {
  char state = '?';  ///< proc(5): R runs, S sleeps, D waits for a disk, T is stopped, t is held by a debugger
  std::int64_t cpu_time_ns = 0;  ///< since the process's start, counted in ticks of 10 ms

  bool operator==(const ProcessState&) const = default;
};

/// Absent if there is no such process, or /proc does not tell.
std::optional<ProcessState> read_process_state(pid_t process);

/// Parses the text of /proc/PID/stat.
std::optional<ProcessState> parse_process_state(std::string_view stat);

/// Resets the kernel's high-water mark of resident memory (proc(5), clear_refs). Returns false if not permitted; the
/// peak then covers the whole life of the process.
bool reset_peak_rss();

/// VmHWM of the calling process; absent if /proc is not readable.
std::optional<std::int64_t> read_peak_rss_bytes();

/// The memory that a stage needs to compute its blocks, whatever else its process holds.
struct StageMemory {
  std::int64_t weights_bytes = 0;   ///< its blocks' weights, as the process holds them
  std::int64_t prepared_bytes = 0;  ///< what was prepared from them: the graph's own tensors
  std::int64_t tensors_bytes = 0;   ///< the most that lives at once while it computes: activations and buffers

  std::int64_t total() const { return weights_bytes + prepared_bytes + tensors_bytes; }
  bool operator==(const StageMemory&) const = default;
};
PARETOPIPE_JSON(StageMemory, weights_bytes, prepared_bytes, tensors_bytes)

}  // namespace paretopipe::host
