#include <paretopipe/record/machine.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::record {

std::string machine_of(const host::HostContext& host) {
  return fmt::format("{} ({}, {} CPU{})", host.hostname, host.cpu_model.empty() ? host.architecture : host.cpu_model,
                     host.cpu_count, host.cpu_count == 1 ? "" : "s");
}

std::vector<std::string> machines_of(const TrialRecord& record) {
  std::vector<std::string> machines;
  for (const auto& stage : record.stages) {
    auto machine = machine_of(stage.host);
    if (std::find(machines.begin(), machines.end(), machine) == machines.end()) machines.push_back(std::move(machine));
  }
  return machines;
}

}  // namespace paretopipe::record
