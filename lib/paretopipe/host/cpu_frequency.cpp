#include <paretopipe/host/cpu_frequency.hpp>
#include <paretopipe/host/proc_text.hpp>

#include <fmt/format.h>

namespace paretopipe::host {

std::optional<std::int64_t> read_cpu_frequency_hz(const CpuSet& cpus, const std::filesystem::path& root) {
  if (cpus.empty()) return std::nullopt;
  std::int64_t sum_hz = 0;
  for (const int cpu : cpus) {
    const auto file = root / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu);
    const auto kilohertz = parse_integer(read_text(file).value_or(""));
    if (!kilohertz || *kilohertz <= 0) return std::nullopt;
    sum_hz += *kilohertz * 1000;
  }
  return sum_hz / static_cast<std::int64_t>(cpus.size());
}

}  // namespace paretopipe::host
