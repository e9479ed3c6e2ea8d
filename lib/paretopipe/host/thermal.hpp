#pragma once
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace paretopipe::host {

/// How warm a machine is, and how far heat and power reduce its clock rate. A value that it does not report is absent.
struct ThermalState {
  std::optional<double> temperature_celsius{};     ///< of the CPU, or of the hottest zone if none is the CPU's
  std::optional<std::uint32_t> throttled{};        ///< a Raspberry Pi's bits (describe_throttling)
  std::optional<std::int64_t> frequency_hz{};      ///< current mean clock rate of the CPUs
  std::optional<std::int64_t> max_frequency_hz{};  ///< mean of their highest clock rates

  bool operator==(const ThermalState&) const = default;
};
PARETOPIPE_JSON(ThermalState, temperature_celsius, throttled, frequency_hz, max_frequency_hz)

/// Reads /sys. `root` is "/" except in tests.
ThermalState read_thermal_state(const CpuSet& cpus, const std::filesystem::path& root = "/");

/// Describes the bits of a Raspberry Pi's get_throttled (Raspberry Pi documentation, vcgencmd): "under-voltage" for a
/// limit that is reached now, "under-voltage since boot" for one that was reached before and is not now. Empty if there
/// is neither.
std::vector<std::string> describe_throttling(std::uint32_t bits);

/// True if heat or the power supply limits a Raspberry Pi at this moment.
bool is_throttled_now(std::uint32_t bits);

}  // namespace paretopipe::host
