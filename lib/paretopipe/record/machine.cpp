#include <paretopipe/record/machine.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::record {

std::vector<std::string> machines_of(const TrialRecord& record) {
  std::vector<std::string> machines;
  for (const auto& stage : record.stages) {
    const auto& host = stage.host;
    auto machine =
        fmt::format("{} ({}, {} CPU{})", host.hostname, host.cpu_model.empty() ? host.architecture : host.cpu_model,
                    host.cpu_count, host.cpu_count == 1 ? "" : "s");
    if (std::find(machines.begin(), machines.end(), machine) == machines.end()) machines.push_back(std::move(machine));
  }
  return machines;
}

}  // namespace paretopipe::record
