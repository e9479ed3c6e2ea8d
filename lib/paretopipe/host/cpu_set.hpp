#pragma once
#include <optional>
#include <string>
#include <vector>

namespace paretopipe::host {

/// The largest NR_CPUS that Linux can be configured with; bounds what a mistyped range can allocate.
inline constexpr int kMaxCpus = 8192;

/// CPU numbers, ascending and unique.
using CpuSet = std::vector<int>;

/// Parses the kernel's list format: "0", "0-3,8". Throws UsageError for anything else, or an empty set.
CpuSet parse_cpu_list(const std::string& text);
std::string to_string(const CpuSet& cpus);

/// True if `threads` busy threads leave something both of these CPUs (in the kernel's list format) and of the quota on
/// them, which is in CPUs; without a quota, of the CPUs.
bool has_cpu_to_spare(const std::string& cpus, std::optional<double> quota, double threads);

/// The CPUs that the calling thread may run on.
CpuSet current_affinity();

/// Restricts the calling thread, and the threads and processes that it starts afterwards, to `cpus`. Throws
/// EnvironmentError naming the CPUs that this machine does not have or does not allow.
void set_affinity(const CpuSet& cpus);

/// Divides `available` into `stages` consecutive, disjoint sets of equal size; the first sets get the remainder. If
/// there are fewer CPUs than stages, the CPUs are shared in turn.
std::vector<CpuSet> deal_cpus(const CpuSet& available, int stages);

}  // namespace paretopipe::host
