#include <paretopipe/core/clock.hpp>
#include <paretopipe/host/cpu_time.hpp>
#include <paretopipe/host/proc_text.hpp>

#include <array>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace paretopipe::host {

namespace {

constexpr std::int64_t kTickNs = 10'000'000;  // USER_HZ is 100 on all architectures that we know

/// The fields of a line, see proc(5).
struct Ticks {
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
};

std::optional<Ticks> find_ticks(std::string_view stat, int cpu) {
  const auto line = find_field(stat, fmt::format("cpu{}", cpu), ' ');
  if (!line) return std::nullopt;
  std::istringstream fields(*line);
  Ticks ticks;
  for (auto* field : {&ticks.user, &ticks.nice, &ticks.system, &ticks.idle, &ticks.iowait, &ticks.irq, &ticks.softirq,
                      &ticks.steal}) {
    if (!(fields >> *field)) return std::nullopt;
  }
  return ticks;
}

}  // namespace

std::optional<CpuTime> parse_cpu_time(std::string_view stat, const CpuSet& cpus) {
  CpuTime time;
  for (const int cpu : cpus) {
    const auto ticks = find_ticks(stat, cpu);
    if (!ticks) return std::nullopt;
    time.busy_ns += (ticks->user + ticks->nice + ticks->system + ticks->irq + ticks->softirq) * kTickNs;
    time.stolen_ns += ticks->steal * kTickNs;
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
