#pragma once
#include <paretopipe/core/json_fields.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace paretopipe::host {

/// The machine under a stage, as the kernel reports it. A number without its machine means little.
struct HostContext {
  std::string hostname;
  std::string boot_id;         ///< identifies this boot of the kernel
  std::string time_namespace;  ///< time_namespaces(7), "time:[4026531834]": the clock's offset; empty if unknown
  std::string kernel;
  std::string os;
  std::string architecture;
  std::string cpu_model;
  int cpu_count = 0;  ///< online CPUs
  std::int64_t memory_bytes = 0;
  std::optional<std::string>
      governor;  ///< cpufreq governor of CPU 0; absent if the kernel shows none (virtual machines)
  std::optional<std::string> board{};  ///< "Raspberry Pi 4 Model B Rev 1.4", as the device tree has it; absent on a PC

  bool operator==(const HostContext&) const = default;
};
PARETOPIPE_JSON_UNLESS_USUAL(HostContext,
                             (hostname, boot_id, kernel, os, architecture, cpu_model, cpu_count, memory_bytes, board,
                              governor),
                             (time_namespace))

/// State that changes from moment to moment and can explain a slow trial.
struct HostState {
  double load_average_1min = 0;
  std::int64_t available_memory_bytes = 0;
  std::optional<std::int64_t> cpu_frequency_hz;  ///< of CPU 0; absent if unreadable

  bool operator==(const HostState&) const = default;
};
PARETOPIPE_JSON(HostState, load_average_1min, available_memory_bytes, cpu_frequency_hz)

/// True if readings of the two processes' steady clocks can be compared directly. False if unknown.
bool share_steady_clock(const HostContext& a, const HostContext& b);

/// True if one program computes the same numbers on both, to the last bit. Another kind of CPU may use other numerical
/// kernels, which sum in another order.
bool same_kind_of_cpu(const HostContext& a, const HostContext& b);

/// Reads /proc, /sys and /etc. What cannot be read stays empty or absent. Never throws. `root` is "/" except in tests.
HostContext read_host_context(const std::filesystem::path& root = "/");
HostState read_host_state();

}  // namespace paretopipe::host
