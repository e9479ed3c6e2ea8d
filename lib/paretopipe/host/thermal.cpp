#include <paretopipe/core/text.hpp>
#include <paretopipe/host/cpu_conditions.hpp>
#include <paretopipe/host/proc_text.hpp>
#include <paretopipe/host/thermal.hpp>

#include <algorithm>
#include <array>
#include <cctype>

namespace paretopipe::host {

namespace fs = std::filesystem;
namespace {

/// A sensor that is off or absent shows 0 K, 0 °C or some large number.
constexpr double kColdest = -40;
constexpr double kHottest = 150;

/// True for zone types such as "cpu-thermal" (Raspberry Pi), "x86_pkg_temp", "soc-thermal", "bigcore0-thermal"
/// (Rockchip) and "CPU-therm" (Jetson, whose "PMIC-Die" always says 100 °C).
bool is_of_the_cpu(std::string type) {
  std::transform(type.begin(), type.end(), type.begin(), [](unsigned char letter) { return std::tolower(letter); });
  const std::array parts{"cpu", "pkg", "package", "core", "soc"};
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return type.find(part) != std::string::npos; });
}

std::optional<double> read_temperature(const fs::path& root) {
  std::optional<double> of_cpu;
  std::optional<double> of_any;
  std::error_code unreadable;
  for (const auto& zone : fs::directory_iterator(root / "sys/class/thermal", unreadable)) {
    if (!zone.path().filename().string().starts_with("thermal_zone")) continue;
    const auto millidegrees = parse_number<std::int64_t>(read_text(zone.path() / "temp").value_or(""));
    if (!millidegrees) continue;
    const double celsius = static_cast<double>(*millidegrees) / 1000;
    if (celsius <= kColdest || celsius == 0 || celsius >= kHottest) continue;
    of_any = std::max(of_any.value_or(celsius), celsius);
    if (is_of_the_cpu(read_text(zone.path() / "type").value_or("")))
      of_cpu = std::max(of_cpu.value_or(celsius), celsius);
  }
  return of_cpu ? of_cpu : of_any;
}

/// The kernel writes the bits as a hexadecimal number without a prefix.
std::optional<std::uint32_t> read_throttled(const fs::path& root) {
  const auto text = read_text(root / "sys/devices/platform/soc/soc:firmware/get_throttled").value_or("");
  return parse_number<std::uint32_t>(text, 16);
}

constexpr std::array kLimits{"under-voltage", "clock capped", "throttled", "soft temperature limit"};
constexpr unsigned kSinceBoot = 16;  ///< the lowest of the bits for limits that were reached since boot

}  // namespace

ThermalState read_thermal_state(const CpuSet& cpus, const fs::path& root) {
  return {.temperature_celsius = read_temperature(root),
          .throttled = read_throttled(root),
          .frequency_hz = read_cpu_frequency_hz(cpus, root),
          .max_frequency_hz = read_cpu_frequency_hz(cpus, root, "cpuinfo_max_freq")};
}

std::vector<std::string> describe_throttling(std::uint32_t bits) {
  std::vector<std::string> words;
  for (unsigned limit = 0; limit < kLimits.size(); ++limit) {
    const bool now = (bits >> limit & 1U) != 0;
    const bool before = (bits >> (limit + kSinceBoot) & 1U) != 0;
    if (now) words.emplace_back(kLimits.at(limit));
    if (before && !now) words.push_back(fmt::format("{} since boot", kLimits.at(limit)));
  }
  return words;
}

bool is_throttled_now(std::uint32_t bits) {
  return (bits & ((1U << kLimits.size()) - 1)) != 0;
}

}  // namespace paretopipe::host
