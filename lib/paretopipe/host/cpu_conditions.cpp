#include <paretopipe/core/json.hpp>
#include <paretopipe/host/compute_probe.hpp>
#include <paretopipe/host/cpu_conditions.hpp>
#include <paretopipe/host/cpu_frequency.hpp>

namespace paretopipe::host {

void to_json(nlohmann::json& json, const CpuConditions& conditions) {
  json = {{"probe_before_ns", conditions.probe_before_ns}, {"probe_after_ns", conditions.probe_after_ns}};
  write_optional(json, "time", conditions.time);
  write_optional(json, "frequency_before_hz", conditions.frequency_before_hz);
  write_optional(json, "frequency_after_hz", conditions.frequency_after_hz);
}

void from_json(const nlohmann::json& json, CpuConditions& conditions) {
  json.at("probe_before_ns").get_to(conditions.probe_before_ns);
  json.at("probe_after_ns").get_to(conditions.probe_after_ns);
  read_optional(json, "time", conditions.time);
  read_optional(json, "frequency_before_hz", conditions.frequency_before_hz);
  read_optional(json, "frequency_after_hz", conditions.frequency_after_hz);
}

CpuWatch::CpuWatch()
    : cpus_(current_affinity()),
      probe_before_ns_(compute_probe_ns()),
      time_before_(read_cpu_time(cpus_)),
      frequency_before_hz_(read_cpu_frequency_hz(cpus_)) {}

CpuConditions CpuWatch::end() const {
  CpuConditions conditions;
  const auto time_after = read_cpu_time(cpus_);
  if (time_before_ && time_after) conditions.time = *time_after - *time_before_;
  conditions.frequency_before_hz = frequency_before_hz_;
  conditions.frequency_after_hz = read_cpu_frequency_hz(cpus_);
  conditions.probe_before_ns = probe_before_ns_;
  conditions.probe_after_ns = compute_probe_ns();
  return conditions;
}

}  // namespace paretopipe::host
