#pragma once
#include <paretopipe/host/cpu_time.hpp>

#include <cstdint>
#include <optional>

#include <nlohmann/json.hpp>

namespace paretopipe::host {

/// What the CPUs under a measurement were worth while it ran.
struct CpuConditions {
  std::int64_t probe_before_ns = 0;  ///< compute_probe_ns() right before
  std::int64_t probe_after_ns = 0;   ///< and right after
  std::optional<CpuTime> time;       ///< of the calling thread's CPUs in between; absent where unreadable
  std::optional<std::int64_t> frequency_before_hz{};  ///< of these CPUs (read_cpu_frequency_hz), after the first probe
  std::optional<std::int64_t> frequency_after_hz{};   ///< and before the second; absent in older records, too
  bool operator==(const CpuConditions&) const = default;
};

void to_json(nlohmann::json& json, const CpuConditions& conditions);
void from_json(const nlohmann::json& json, CpuConditions& conditions);

/// Watches the CPUs of the thread that makes it, from its making to `end`, which that same thread calls.
class CpuWatch {
 public:
  CpuWatch();
  CpuConditions end() const;

 private:
  CpuSet cpus_;
  std::int64_t probe_before_ns_ = 0;
  std::optional<CpuTime> time_before_;
  std::optional<std::int64_t> frequency_before_hz_;
};

}  // namespace paretopipe::host
