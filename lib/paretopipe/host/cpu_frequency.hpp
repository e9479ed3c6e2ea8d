#pragma once
#include <paretopipe/host/cpu_set.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace paretopipe::host {

/// The current mean clock rate of the CPUs, as the kernel's cpufreq reports it. Absent if one of them reports none, as
/// in most virtual machines. `root` is "/" except in tests.
std::optional<std::int64_t> read_cpu_frequency_hz(const CpuSet& cpus, const std::filesystem::path& root = "/");

}  // namespace paretopipe::host
