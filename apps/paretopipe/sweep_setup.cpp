#include "sweep_setup.hpp"

#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/experiment/devices.hpp>
#include <paretopipe/host/cpu_set.hpp>
#include <paretopipe/host/host_context.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/record/labels.hpp>

#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>

#include <unistd.h>

#include <fmt/format.h>

namespace paretopipe::cli {

namespace {

/// The setting's meaning without Markdown, and its default.
std::string help_of(const experiment::Setting& setting, const Defaults& defaults) {
  auto meaning = setting.meaning;
  std::erase(meaning, '`');
  if (setting.value.kind == experiment::FlagKind::off) return fmt::format("Turn this off: {}", meaning);
  const auto* often = setting.value.kind == experiment::FlagKind::repeated ? "; may be given several times" : "";
  const auto own = defaults.find(setting.key);
  return fmt::format("{}{} ({})", meaning, often,
                     own == defaults.end() ? experiment::default_of(setting) : own->second);
}

void add_setting_flag(CLI::App& command, experiment::GivenFlags& given, const experiment::Setting& setting,
                      const std::string& help) {
  const auto names = setting.alias.empty() ? setting.flag : setting.flag + "," + setting.alias;
  const auto take = [&given, key = setting.key](const std::vector<std::string>& texts) { given[key] = texts; };
  if (setting.value.kind == experiment::FlagKind::off || setting.value.kind == experiment::FlagKind::on) {
    command
        .add_flag_callback(
            names, [take] { take({""}); }, help)
        ->group(setting.heading);
    return;
  }
  auto* option = command.add_option_function<std::vector<std::string>>(names, take, help)
                     ->type_name(setting.value.type)
                     ->group(setting.heading);
  if (setting.value.kind == experiment::FlagKind::repeated) {
    option->allow_extra_args(false);
  } else {
    option->expected(1);
  }
}

}  // namespace

void add_setting_flags(CLI::App& command, experiment::GivenFlags& given, const std::string& keys,
                       const Defaults& defaults) {
  std::istringstream words(keys);
  const std::set<std::string> chosen(std::istream_iterator<std::string>(words), {});
  for (const auto& setting : experiment::settings()) {
    const bool wanted = keys.empty() || chosen.contains(setting.key);
    if (wanted && !setting.flag.empty()) add_setting_flag(command, given, setting, help_of(setting, defaults));
  }
}

void add_sweep_options(CLI::App& command, SweepOptions& options) {
  command.add_option("experiment", options.experiment_file, "Experiment file (configs/README.md); flags win over it");
  add_setting_flags(command, options.settings);
  command.add_option("--out", options.out, "Folder of the records (results/NAME)");
  command
      .add_option("--against", options.against,
                  "Measure every trial with this stage program too, in turns, into OUT/base: did it get slower?")
      ->type_name("PROGRAM");
  command
      .add_option_function<std::string>(
          "--shard", [&options](const std::string& text) { options.shard = experiment::parse_shard(text); },
          "Measure one part of the plan, such as 3/16: the third of sixteen, which `paretopipe merge` joins")
      ->type_name("NUMBER/COUNT");
  command
      .add_option("--guided", options.guided,
                  "Measure only what could be on the frontier by this file of `paretopipe profile`; repeatable")
      ->type_name("PROFILE")
      ->allow_extra_args(false);
  command
      .add_option(
          "--within", options.within,
          "With --guided or --partitions best: leave out what may be better than a measured split by this share "
          "at most; 0 % finds every point of the frontier (5 %)")
      ->type_name("SHARE");
  command.add_flag("--resume", options.resume, "Continue a sweep: run what has no ok record yet");
  command.add_flag("--dry-run", options.dry_run, "Print the plan and run nothing");
}

experiment::Experiment experiment_of(const SweepOptions& options) {
  auto experiment =
      options.experiment_file.empty() ? experiment::Experiment{} : experiment::load_experiment(options.experiment_file);
  experiment::apply_flags(experiment, options.settings);
  return completed(std::move(experiment));
}

experiment::Experiment completed(experiment::Experiment experiment) {
  const auto on = experiment::find_devices(experiment.on, experiment.devices_file);
  experiment::settle_devices(experiment, on);
  experiment.cpus = experiment::assign_cpus(experiment, host::current_affinity(), on);
  experiment::validate(experiment);
  return experiment;
}

experiment::Trial only_trial(std::string_view command, const run::PreparedSweep& sweep) {
  if (sweep.trials.size() == 1) return sweep.trials.front();
  throw UsageError(fmt::format(
      "{0} takes one way to cut the model and to {0} it, and {1} were named; `paretopipe sweep` measures several",
      command, sweep.trials.size()));
}

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

/// Reads the file at every call. A sweep calls this only once.
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

namespace {

/// Warns if repetitions would be of several machines or programs, whose medians are of none. Where devices are named,
/// their names tell them apart.
void warn_of_other_origins(const std::vector<record::TrialRecord>& records, const std::string& program_sha256,
                           const std::filesystem::path& file) {
  const auto here = record::machine_of(host::read_host_context());
  for (const auto& record : records) {
    if (record.status != record::Status::ok || record.stages.empty()) continue;
    const auto& program = record.provenance.stage_program_sha256;
    const auto there = record::machine_of(record.stages.front().host);
    const bool elsewhere = record.trial.on.empty() && there != here;
    if (!elsewhere && (program.empty() || program == program_sha256)) continue;
    print_notice(
        "warning: {} has records {}; medians over them and new ones would be of neither{}\n", file.string(),
        elsewhere ? fmt::format("from {}, and this is {}", record::printable(there), here) : "of another stage program",
        elsewhere ? ", and `paretopipe merge` refuses such repetitions" : "");
    return;
  }
}

}  // namespace

std::vector<record::TrialRecord> SweepSides::known(bool resume) const {
  if (!resume) return {};
  const auto& own = sides_.front();
  if (!two()) {
    auto records = own.known();
    warn_of_other_origins(records, own.sha256, own.file());
    return records;
  }
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
