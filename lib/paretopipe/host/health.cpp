#include <paretopipe/host/health.hpp>
#include <paretopipe/host/judgements.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::host {

std::vector<Finding> judge(const Observations& seen) {
  std::vector<Finding> findings;
  for (auto&& part : {judge_installation(seen), judge_cpus(seen), judge_memory(seen)}) {
    findings.insert(findings.end(), part.begin(), part.end());
  }
  return findings;
}

Level worst(const std::vector<Finding>& findings) {
  Level level = Level::ok;
  for (const auto& finding : findings) level = std::max(level, finding.level);
  return level;
}

std::string to_string(Level level) {
  switch (level) {
    case Level::ok:
      return "ok";
    case Level::note:
      return "note";
    case Level::warning:
      return "warning";
    case Level::problem:
      return "problem";
  }
  return "problem";
}

void to_json(nlohmann::json& json, const Finding& finding) {
  json = {{"name", finding.name},
          {"level", to_string(finding.level)},
          {"observed", finding.observed},
          {"why", finding.why},
          {"mend", finding.mend}};
}

}  // namespace paretopipe::host
