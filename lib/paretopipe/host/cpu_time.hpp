#pragma once
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

namespace paretopipe::host {

/// How a set of CPUs spent its time, summed over the CPUs. The kernel counts in ticks of 10 ms.
struct CpuTime {
  std::int64_t wall_ns = 0;    ///< elapsed time, counted once per CPU
  std::int64_t busy_ns = 0;    ///< in any process or in the kernel
  std::int64_t stolen_ns = 0;  ///< wanted, but given to others by a virtual machine's host
  bool operator==(const CpuTime&) const = default;
};
PARETOPIPE_JSON(CpuTime, wall_ns, busy_ns, stolen_ns)

/// The time since the machine started. Its wall time counts from an arbitrary point in the past. Absent if /proc/stat
/// does not tell.
std::optional<CpuTime> read_cpu_time(const CpuSet& cpus);
CpuTime operator-(const CpuTime& after, const CpuTime& before);
/// The sum over two spans of time.
CpuTime operator+(const CpuTime& left, const CpuTime& right);

/// Reads `busy_ns` and `stolen_ns` from the text of /proc/stat. Absent if one of the CPUs has no line.
std::optional<CpuTime> parse_cpu_time(std::string_view stat, const CpuSet& cpus);

}  // namespace paretopipe::host
