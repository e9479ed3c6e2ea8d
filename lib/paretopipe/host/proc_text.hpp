#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Reads /proc, /sys and /etc/os-release. Internal to this folder. The parsers are functions of text, so that the
/// formats of machines that nobody has at hand can be tested. What is missing or not understood is absent. Nothing
/// throws.
namespace paretopipe::host {

/// The whole file without trailing white space or NULs (device-tree strings end in one). Absent if it cannot be opened,
/// empty if it cannot be read.
std::optional<std::string> read_text(const std::filesystem::path& file);

/// The value of the first line "key<separator>value", both trimmed.
std::optional<std::string> find_field(std::string_view text, std::string_view key, char separator = ':');

/// PRETTY_NAME of os-release(5), unquoted; else NAME.
std::optional<std::string> parse_os_name(std::string_view os_release);

/// The CPU model from /proc/cpuinfo: "model name" (x86), the names of the cores (64-bit ARM), "cpu" (POWER). ARM's
/// kernel writes numbers, which are named as lscpu(1) names them: "Cortex-A76", or "Cortex-A53 + Cortex-A72" where a
/// machine has several kinds. A core without a name here is "implementer 0x41 part 0xfff".
std::optional<std::string> parse_cpu_model(std::string_view cpuinfo);

/// The value, in bytes, of a line of /proc/meminfo or /proc/PID/status ("VmHWM:   1234 kB").
std::optional<std::int64_t> parse_kilobyte_field(std::string_view text, std::string_view key);

/// How a CPU spent its time since the machine started, in ticks of 10 ms (USER_HZ is 100 on all architectures that we
/// know).
struct CpuTicks {
  std::int64_t busy = 0;    ///< in any process or in the kernel
  std::int64_t stolen = 0;  ///< wanted, but given to others by a virtual machine's host
};
inline constexpr std::int64_t kTickNs = 10'000'000;

/// The line of "cpu3", or "cpu" for all together, in /proc/stat.
std::optional<CpuTicks> parse_ticks(std::string_view stat, std::string_view cpu);

/// The first of the three numbers of /proc/loadavg.
std::optional<double> parse_load_average(std::string_view loadavg);

}  // namespace paretopipe::host
