#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Reading of what /proc, /sys and /etc/os-release say. Internal to this folder: functions of text, so that the formats
/// of machines that nobody has at hand can be tested. What is not there, or not understood, is absent; nothing throws.
namespace paretopipe::host {

/// The whole file without trailing white space or NULs (device-tree strings end in one); absent where there is none to
/// open, empty where it cannot be read.
std::optional<std::string> read_text(const std::filesystem::path& file);

/// The value of the first line "key<separator>value", both trimmed.
std::optional<std::string> find_field(std::string_view text, std::string_view key, char separator = ':');

/// PRETTY_NAME of os-release(5), unquoted; else NAME.
std::optional<std::string> parse_os_name(std::string_view os_release);

/// Of /proc/cpuinfo: "model name" (x86), "Model" (Raspberry Pi), "cpu" (POWER), else "implementer 0x41 part 0xd0b".
std::optional<std::string> parse_cpu_model(std::string_view cpuinfo);

/// A line of /proc/meminfo or /proc/PID/status ("VmHWM:   1234 kB"), in bytes.
std::optional<std::int64_t> parse_kilobyte_field(std::string_view text, std::string_view key);

/// The first of the three numbers of /proc/loadavg.
std::optional<double> parse_load_average(std::string_view loadavg);

/// The whole of `text` as a decimal number.
std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace paretopipe::host
