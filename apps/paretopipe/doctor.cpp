#include <paretopipe/core/error.hpp>
#include <paretopipe/host/health.hpp>
#include <paretopipe/host/host_context.hpp>
#include <paretopipe/host/observe.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/render/table.hpp>
#include <paretopipe/run/unsplit_models.hpp>
#include <paretopipe/shaping/kernel/capabilities.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "terminal.hpp"

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

std::optional<host::Finding> judge_denormals(const nlohmann::json& applied) {
  if (!applied.contains("flush_denormals")) return std::nullopt;
  const bool flushes = applied["flush_denormals"].get<bool>();
  return host::Finding{
      "denormals", flushes ? host::Level::ok : host::Level::note,
      flushes ? "computed as zero" : "this LibTorch was built without the code to compute them as zero",
      "arithmetic on denormal numbers is many times slower, and some models have many of them",
      flushes ? "" : "--no-flush-denormals makes all stages of a pipeline alike; or use another LibTorch"};
}

/// As oneDNN names them: "gemm:ref", "ref:any".
bool is_reference(const std::string& kernel) {
  return kernel.starts_with("ref") || kernel.ends_with(":ref");
}

/// None for a LibTorch that does not name its kernels.
std::optional<host::Finding> judge_kernels(const nlohmann::json& applied) {
  const auto found = applied.find("convolution_kernels");
  if (found == applied.end() || found->is_null()) return std::nullopt;
  const auto kernels = found->get<std::vector<std::string>>();
  const bool slow = std::any_of(kernels.begin(), kernels.end(), is_reference);
  auto observed = fmt::format("{}", fmt::join(kernels, ", "));
  if (slow) observed += ": oneDNN has only its reference kernels for this CPU";
  return host::Finding{
      "convolutions", slow ? host::Level::warning : host::Level::ok, std::move(observed),
      "optimized models convolve with oneDNN, whose reference kernels are many times slower than others",
      slow ? "measure --compute eager too, which may be faster here; or use a LibTorch whose oneDNN "
             "knows this CPU (on ARM, one with the Arm Compute Library)"
           : ""};
}

/// What only a running stage can tell. Its other problems are among the observations.
std::vector<host::Finding> stage_findings(const host::Observations& seen) {
  if (!seen.stage_program || !seen.missing_libraries.empty()) return {};
  nlohmann::json applied;
  try {
    applied = run::try_configuration(*seen.stage_program).compute;
  } catch (const Error& error) {
    return {{"stage start", host::Level::problem, error.what(), "a stage program that does not start measures nothing",
             "start it by hand to see more"}};
  }
  std::vector<host::Finding> findings;
  for (auto finding : {judge_denormals(applied), judge_kernels(applied)}) {
    if (finding) findings.push_back(std::move(*finding));
  }
  return findings;
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
  const auto count = [&](host::Level level) { return std::ranges::count(findings, level, &host::Finding::level); };
  fmt::print("\n{} problem(s), {} warning(s), {} note(s)\n", count(host::Level::problem), count(host::Level::warning),
             count(host::Level::note));
}

void print_json(const std::vector<host::Finding>& findings) {
  const nlohmann::json document{
      {"host", host::read_host_context()}, {"worst", to_string(worst(findings))}, {"findings", findings}};
  fmt::print("{}", render::json_text(document));
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
  add_format_option(*command, options->format, {"text", "json"});
  command->callback([options, &chosen] { chosen = [options] { return run_doctor(*options); }; });
}

}  // namespace paretopipe::cli
