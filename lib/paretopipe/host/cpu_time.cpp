#include <paretopipe/core/clock.hpp>
#include <paretopipe/host/cpu_time.hpp>
#include <paretopipe/host/proc_text.hpp>

#include <fmt/format.h>

namespace paretopipe::host {

std::optional<CpuTime> parse_cpu_time(std::string_view stat, const CpuSet& cpus) {
  CpuTime time;
  for (const int cpu : cpus) {
    const auto ticks = parse_ticks(stat, fmt::format("cpu{}", cpu));
    if (!ticks) return std::nullopt;
    time.busy_ns += ticks->busy * kTickNs;
    time.stolen_ns += ticks->stolen * kTickNs;
  }
  return time;
}

std::optional<CpuTime> read_cpu_time(const CpuSet& cpus) {
  auto time = parse_cpu_time(read_text("/proc/stat").value_or(""), cpus);
  if (time) time->wall_ns = now_ns() * static_cast<std::int64_t>(cpus.size());
  return time;
}

CpuTime operator-(const CpuTime& after, const CpuTime& before) {
  return {.wall_ns = after.wall_ns - before.wall_ns,
          .busy_ns = after.busy_ns - before.busy_ns,
          .stolen_ns = after.stolen_ns - before.stolen_ns};
}

CpuTime operator+(const CpuTime& left, const CpuTime& right) {
  return left - (CpuTime{} - right);
}

}  // namespace paretopipe::host
