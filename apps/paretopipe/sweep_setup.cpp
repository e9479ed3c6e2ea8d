#include "sweep_setup.hpp"

#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/launch/child_process.hpp>

#include <filesystem>

#include <unistd.h>

#include <fmt/format.h>

namespace paretopipe::cli {

run::ExecutorOptions executor_options(const SweepOptions& options, const experiment::Experiment& experiment,
                                      const run::SweepInputs& inputs, const launch::InterruptGuard& interrupt) {
  run::ExecutorOptions executor;
  executor.stage_program = launch::find_stage_program();
  executor.timeout_s = experiment.trial_timeout_s;
  executor.rest_s = experiment.rest_s;
  executor.interrupt_descriptor = interrupt.descriptor();
  executor.watching.notice = [](const std::string& sentence) {
    // On a terminal, the unfinished line of the sweep's progress is there.
    print_notice("{}paretopipe: {}\n", ::isatty(STDERR_FILENO) != 0 ? "\n" : "", sentence);
  };
  if (!experiment.weights.empty()) executor.weights = std::filesystem::absolute(experiment.weights).string();
  executor.data = inputs.data;
  for (const auto& source : inputs.sources) {
    if (source.archive) executor.archives[source.archive->sha256] = source.file;
  }
  for (const auto& device : inputs.plan.on) executor.devices.emplace(device.name, device);
  executor.provenance = {std::string(version()),
                         std::string(git_state()),
                         options.command_line,
                         {},
                         sha256_of_file(executor.stage_program)};
  return executor;
}

namespace {

/// Refuses settings that would falsify the comparison of two programs in turns.
void check_settings(const experiment::Experiment& experiment) {
  if (experiment.repeat.adaptive) {
    throw UsageError(
        "--against needs to know beforehand how often each trial is measured, or the comparison would depend on when "
        "it was stopped: give --repeat a number");
  }
  if (!experiment.on.empty()) {
    throw UsageError("--against starts both programs on this machine; leave --against or --on out");
  }
  if (!experiment.tuning.passive_openmp_wait) {
    throw UsageError(
        "--against keeps the stages of both programs, and with --active-openmp-wait those that wait would take the "
        "CPUs from those that compute: leave one of the two out");
  }
}

std::filesystem::path checked_program(const std::filesystem::path& program) {
  std::error_code unknown;
  const auto path = std::filesystem::absolute(program);
  if (!std::filesystem::exists(path, unknown)) {
    throw UsageError(
        fmt::format("--against: there is no {}; name the stage program of the other build, as in "
                    "--against OTHER/bin/paretopipe-stage",
                    program.string()));
  }
  if (std::filesystem::is_directory(path, unknown) || ::access(path.c_str(), X_OK) != 0) {
    throw UsageError(
        fmt::format("--against: {} is not a program that can be executed; name the other build's "
                    "paretopipe-stage",
                    program.string()));
  }
  return path;
}

}  // namespace

SweepSides::Side::Side(run::ExecutorOptions options, std::filesystem::path where)
    : sha256(options.provenance.stage_program_sha256), folder(std::move(where)), executor(std::move(options)) {}

/// Read anew for every answer: a sweep asks once.
std::vector<record::TrialRecord> SweepSides::Side::known() const {
  std::error_code unknown;
  if (!std::filesystem::exists(file(), unknown)) return {};
  return record::read_records(file(), stats::check_summary).records;
}

SweepSides::SweepSides(const SweepOptions& options, const experiment::Experiment& experiment,
                       run::ExecutorOptions executor, const std::filesystem::path& folder) {
  if (options.against.empty()) {
    sides_.emplace_back(std::move(executor), folder);
    return;
  }
  check_settings(experiment);
  auto other = executor;
  other.stage_program = checked_program(options.against);
  other.provenance.stage_program_sha256 = sha256_of_file(other.stage_program);
  sides_.emplace_back(std::move(executor), folder);
  sides_.emplace_back(std::move(other), folder / "base");
  if (sides_.front().sha256 != sides_.back().sha256) return;
  print_notice("warning: {} and {} have the same contents, so that what will differ is noise\n",
               own().program().string(), options.against.string());
}

void SweepSides::open(bool resume) {
  for (auto& side : sides_) side.store.emplace(side.folder, resume);
}

std::vector<record::TrialRecord> SweepSides::known(bool resume) const {
  if (!resume) return {};
  const auto& own = sides_.front();
  if (!two()) return own.known();
  for (const auto& side : sides_) {
    for (const auto& record : side.known()) {
      const auto& measured = record.provenance.stage_program_sha256;
      if (measured.empty() || measured == side.sha256) continue;
      throw UsageError(fmt::format(
          "{} was measured with another stage program (SHA-256 {}) than {} ({}); continue with that one, "
          "or choose another --out",
          side.file().string(), measured.substr(0, 12), side.executor.program().string(), side.sha256.substr(0, 12)));
    }
  }
  return run::with_partner(own.known(), sides_.back().known());
}

void SweepSides::expect(const std::vector<experiment::Trial>& trials) {
  for (auto& side : sides_) side.executor.expect(trials);
}

std::vector<run::SweepSide> SweepSides::for_sweep() {
  std::vector<run::SweepSide> sides;
  for (auto& side : sides_) {
    sides.push_back({side.executor, [&side](const record::TrialRecord& record) { side.store->append(record); }});
  }
  return sides;
}

}  // namespace paretopipe::cli
