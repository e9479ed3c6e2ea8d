#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/host/cpu_conditions.hpp>
#include <paretopipe/host/proc_text.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::host {

CpuWatch::CpuWatch(std::filesystem::path root)
    : root_(std::move(root)),
      cpus_(current_affinity()),
      probe_before_ns_(compute_probe_ns()),
      time_before_(read_cpu_time(cpus_)),
      before_(read_thermal_state(cpus_, root_)) {}

CpuConditions CpuWatch::end() const {
  CpuConditions conditions;
  const auto time_after = read_cpu_time(cpus_);
  if (time_before_ && time_after) conditions.time = *time_after - *time_before_;
  const auto after = read_thermal_state(cpus_, root_);
  conditions.frequency_before_hz = before_.frequency_hz;
  conditions.frequency_after_hz = after.frequency_hz;
  conditions.temperature_before_celsius = before_.temperature_celsius;
  conditions.temperature_after_celsius = after.temperature_celsius;
  conditions.throttled_before = before_.throttled;
  conditions.throttled_after = after.throttled;
  conditions.probe_before_ns = probe_before_ns_;
  conditions.probe_after_ns = compute_probe_ns();
  return conditions;
}

std::optional<std::int64_t> read_cpu_frequency_hz(const CpuSet& cpus, const std::filesystem::path& root,
                                                  const char* rate) {
  if (cpus.empty()) return std::nullopt;
  std::int64_t sum_hz = 0;
  for (const int cpu : cpus) {
    const auto file = root / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/{}", cpu, rate);
    const auto kilohertz = parse_number<std::int64_t>(read_text(file).value_or(""));
    if (!kilohertz || *kilohertz <= 0) return std::nullopt;
    sum_hz += *kilohertz * 1000;
  }
  return sum_hz / static_cast<std::int64_t>(cpus.size());
}

namespace {

constexpr int kPieces = 15;
constexpr int kRounds = 120'000;

/// Runs four independent chains to keep the multiplier busy. A single chain would leave room in which a neighbour on
/// the same core would go unnoticed. The multiplier is that of Knuth's MMIX generator.
std::uint64_t arithmetic(std::uint64_t seed) {
  std::array<std::uint64_t, 4> chains{seed, seed + 1, seed + 2, seed + 3};
  for (int round = 0; round < kRounds; ++round) {
    for (auto& chain : chains) chain = chain * 6364136223846793005U + 1442695040888963407U;
  }
  return chains[0] ^ chains[1] ^ chains[2] ^ chains[3];
}

}  // namespace

std::int64_t compute_probe_ns() {
  std::array<std::int64_t, kPieces> durations{};
  std::uint64_t value = 1;
  for (auto& duration : durations) {
    const auto begin = now_ns();
    value = arithmetic(value);
    // Without a reader, the compiler would remove the arithmetic.
    asm volatile("" : : "r"(value));
    duration = now_ns() - begin;
  }
  std::nth_element(durations.begin(), durations.begin() + kPieces / 2, durations.end());
  return durations[kPieces / 2];
}

}  // namespace paretopipe::host
