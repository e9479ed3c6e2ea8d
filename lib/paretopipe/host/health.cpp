#include <paretopipe/core/error.hpp>
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

namespace {

Level parse_level(std::string_view word) {
  for (const auto level : {Level::ok, Level::note, Level::warning, Level::problem}) {
    if (word == to_string(level)) return level;
  }
  throw UsageError(fmt::format("the level {} of a finding is unknown", nlohmann::json(word).dump()));
}

}  // namespace

void to_json(nlohmann::json& json, const Finding& finding) {
  json = {{"name", finding.name},
          {"level", to_string(finding.level)},
          {"observed", finding.observed},
          {"why", finding.why},
          {"mend", finding.remedy}};
}

void from_json(const nlohmann::json& json, Finding& finding) {
  json.at("name").get_to(finding.name);
  finding.level = parse_level(json.at("level").get<std::string>());
  json.at("observed").get_to(finding.observed);
  json.at("why").get_to(finding.why);
  json.at("mend").get_to(finding.remedy);
}

}  // namespace paretopipe::host
