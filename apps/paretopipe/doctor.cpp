#include <paretopipe/core/error.hpp>
#include <paretopipe/host/health.hpp>
#include <paretopipe/host/host_context.hpp>
#include <paretopipe/host/observe.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/run/unsplit_models.hpp>
#include <paretopipe/shaping/kernel/capabilities.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"

namespace paretopipe::cli {
namespace {

struct DoctorOptions {
  std::string format = "text";
};

host::Observations examine() {
  try {
    return host::observe(launch::find_stage_program());
  } catch (const EnvironmentError& error) {  // a finding, not the end of the examination
    auto seen = host::observe(std::nullopt);
    seen.stage_program_error = error.what();
    return seen;
  }
}

/// What only a stage that runs can tell. Its other problems are among the observations.
std::vector<host::Finding> stage_findings(const host::Observations& seen) {
  if (!seen.stage_program || !seen.missing_libraries.empty()) return {};
  nlohmann::json applied;
  try {
    applied = run::try_configuration(*seen.stage_program).compute;
  } catch (const Error& error) {
    return {{"stage start", host::Level::problem, error.what(), "a stage program that does not start measures nothing",
             "start it by hand to see more"}};
  }
  if (!applied.contains("flush_denormals")) return {};
  const bool flushes = applied["flush_denormals"].get<bool>();
  return {{"denormals", flushes ? host::Level::ok : host::Level::note,
           flushes ? "computed as zero" : "this LibTorch was built without the code to compute them as zero",
           "arithmetic on denormal numbers is many times slower, and some models have many of them",
           flushes ? "" : "--no-flush-denormals makes all stages of a pipeline alike; or use another LibTorch"}};
}

/// The kinds of network that this machine can put between stages. A sweep without a network needs none of them.
std::vector<host::Finding> shaping_findings() {
  const auto found = shaping::find_capabilities();
  const auto finding = [](const char* name, const shaping::Ability& ability, const char* why) {
    return host::Finding{name, ability.works ? host::Level::ok : host::Level::note, ability.detail, why,
                         "--shaping emulated works without it, but for loss, reordering and TCP's reactions"};
  };
  return {finding("namespaces", found.namespaces, "netem and tbf are applied between network namespaces"),
          finding("tbf", found.tbf, "the kernel limits a rate with it"),
          finding("netem", found.netem, "the kernel delays and loses packets with it")};
}

void print_text(const std::vector<host::Finding>& findings) {
  for (const auto& finding : findings) {
    fmt::print("{:8} {:19} {}\n", to_string(finding.level), finding.name, finding.observed);
    if (finding.level == host::Level::ok) continue;
    fmt::print("{:28} why:    {}\n", "", finding.why);
    if (!finding.remedy.empty()) fmt::print("{:28} remedy: {}\n", "", finding.remedy);
  }
  const auto count = [&](host::Level level) {
    return std::count_if(findings.begin(), findings.end(), [&](const auto& finding) { return finding.level == level; });
  };
  fmt::print("\n{} problem(s), {} warning(s), {} note(s)\n", count(host::Level::problem), count(host::Level::warning),
             count(host::Level::note));
}

void print_json(const std::vector<host::Finding>& findings) {
  const nlohmann::json document{
      {"host", host::read_host_context()}, {"worst", to_string(worst(findings))}, {"findings", findings}};
  fmt::print("{}\n", document.dump(2));
}

ExitCode run_doctor(const DoctorOptions& options) {
  const auto seen = examine();
  auto findings = judge(seen);
  for (auto& finding : stage_findings(seen)) findings.push_back(std::move(finding));
  for (auto& finding : shaping_findings()) findings.push_back(std::move(finding));
  if (options.format == "json") {
    print_json(findings);
  } else {
    print_text(findings);
  }
  return worst(findings) == host::Level::problem ? ExitCode::negative : ExitCode::success;
}

}  // namespace

void add_doctor(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<DoctorOptions>();
  auto* command = app.add_subcommand("doctor", "Say what of this machine would spoil or prevent a measurement");
  command->add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([options, &chosen] { chosen = [options] { return run_doctor(*options); }; });
}

}  // namespace paretopipe::cli
