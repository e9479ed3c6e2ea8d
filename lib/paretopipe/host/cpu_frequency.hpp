#pragma once
#include <paretopipe/host/cpu_set.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace paretopipe::host {

/// The clock rate of the CPUs at this moment as the kernel's cpufreq tells it, their mean; absent where one of them
/// shows none, as in most virtual machines. `root` is "/" but for tests.
std::optional<std::int64_t> read_cpu_frequency_hz(const CpuSet& cpus, const std::filesystem::path& root = "/");

}  // namespace paretopipe::host
