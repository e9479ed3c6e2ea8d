#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

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

/// State that changes from moment to moment and can explain a slow trial.
struct HostState {
  double load_average_1min = 0;
  std::int64_t available_memory_bytes = 0;
  std::optional<std::int64_t> cpu_frequency_hz;  ///< of CPU 0; absent if unreadable

  bool operator==(const HostState&) const = default;
};

/// True if readings of the two processes' steady clocks can be compared directly. False if unknown.
bool share_steady_clock(const HostContext& a, const HostContext& b);

/// True if the same program on both computes the same numbers to the last bit: another kind of CPU may have other
/// kernels, which sum in another order.
bool same_kind_of_cpu(const HostContext& a, const HostContext& b);

/// Reads /proc, /sys and /etc. What cannot be read stays empty or absent. Never throws. `root` is "/" except in tests.
HostContext read_host_context(const std::filesystem::path& root = "/");
HostState read_host_state();

void to_json(nlohmann::json& json, const HostContext& context);
void from_json(const nlohmann::json& json, HostContext& context);
void to_json(nlohmann::json& json, const HostState& state);
void from_json(const nlohmann::json& json, HostState& state);

}  // namespace paretopipe::host
