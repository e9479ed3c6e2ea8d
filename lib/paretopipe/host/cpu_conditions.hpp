#pragma once
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/host/cpu_set.hpp>
#include <paretopipe/host/cpu_time.hpp>
#include <paretopipe/host/thermal.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace paretopipe::host {

/// The state of the CPUs during a measurement.
struct CpuConditions {
  std::int64_t probe_before_ns = 0;                   ///< compute_probe_ns() right before
  std::int64_t probe_after_ns = 0;                    ///< the same right after
  std::optional<CpuTime> time;                        ///< of the calling thread's CPUs in between; absent if unreadable
  std::optional<std::int64_t> frequency_before_hz{};  ///< of these CPUs (read_cpu_frequency_hz), after the first probe
  std::optional<std::int64_t> frequency_after_hz{};   ///< same before the second probe; both absent in older records
  std::optional<double> temperature_before_celsius{};  ///< see ThermalState; read with the frequencies
  std::optional<double> temperature_after_celsius{};
  std::optional<std::uint32_t> throttled_before{};
  std::optional<std::uint32_t> throttled_after{};
  bool operator==(const CpuConditions&) const = default;
};
PARETOPIPE_JSON(CpuConditions, probe_before_ns, probe_after_ns, time, frequency_before_hz, frequency_after_hz,
                temperature_before_celsius, temperature_after_celsius, throttled_before, throttled_after)

/// Watches the CPUs of the constructing thread from construction to `end`, which must be called on the same thread.
class CpuWatch {
 public:
  /// `root` is the folder that contains /sys: "/" except in tests.
  explicit CpuWatch(std::filesystem::path root = "/");
  CpuConditions end() const;

 private:
  std::filesystem::path root_;
  CpuSet cpus_;
  std::int64_t probe_before_ns_ = 0;
  std::optional<CpuTime> time_before_;
  ThermalState before_;
};

/// The current mean clock rate of the CPUs, as the kernel's cpufreq reports it. Absent if one of them reports none, as
/// in most virtual machines. `root` is "/" except in tests. `rate` is the file of cpufreq that is read.
std::optional<std::int64_t> read_cpu_frequency_hz(const CpuSet& cpus, const std::filesystem::path& root = "/",
                                                  const char* rate = "scaling_cur_freq");

/// Measures how fast the calling thread's CPU is right now, in nanoseconds for a fixed piece of integer arithmetic. It
/// is the median of 15 pieces in a row, which take 2 to 3 ms in all on a CPU of 3 GHz. The arithmetic touches no memory
/// and makes no system call except for the clock, so only the core itself matters: its frequency, a neighbour on its
/// other hardware thread, and a virtual machine's host that takes the CPU away for more than half of the time. Results
/// are comparable on one CPU, but not between CPUs.
std::int64_t compute_probe_ns();

}  // namespace paretopipe::host
