#include "sweep_options.hpp"

#include <paretopipe/experiment/devices.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::cli {
namespace {

/// The setting's meaning without Markdown, and its default.
std::string help_of(const experiment::Setting& setting) {
  auto meaning = setting.meaning;
  std::erase(meaning, '`');
  if (setting.kind == experiment::FlagKind::off) return fmt::format("Not this: {}", meaning);
  const auto* often = setting.kind == experiment::FlagKind::repeated ? "; may be given several times" : "";
  return fmt::format("{}{} ({})", meaning, often, experiment::default_of(setting));
}

void add_setting_flag(CLI::App& command, experiment::GivenFlags& given, const experiment::Setting& setting) {
  const auto names = setting.alias.empty() ? setting.flag : setting.flag + "," + setting.alias;
  const auto take = [&given, key = setting.key](const std::vector<std::string>& texts) { given[key] = texts; };
  if (setting.kind == experiment::FlagKind::off || setting.kind == experiment::FlagKind::on) {
    command
        .add_flag_callback(
            names, [take] { take({""}); }, help_of(setting))
        ->group(setting.heading);
    return;
  }
  auto* option = command.add_option_function<std::vector<std::string>>(names, take, help_of(setting))
                     ->type_name(setting.value.type)
                     ->group(setting.heading);
  if (setting.kind == experiment::FlagKind::repeated) {
    option->allow_extra_args(false);
  } else {
    option->expected(1);
  }
}

}  // namespace

void add_setting_flags(CLI::App& command, experiment::GivenFlags& given, const std::vector<std::string>& keys) {
  for (const auto& setting : experiment::settings()) {
    const bool wanted = keys.empty() || std::find(keys.begin(), keys.end(), setting.key) != keys.end();
    if (wanted && !setting.flag.empty()) add_setting_flag(command, given, setting);
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

}  // namespace paretopipe::cli
