#include <paretopipe/core/text.hpp>
#include <paretopipe/render/output.hpp>
#include <paretopipe/run/profile_devices.hpp>

#include <memory>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "sweep_setup.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

struct ProfileOptions {
  SweepOptions sweep;
  int rounds = 9;
  std::string out;
};

ExitCode run_profile(const ProfileOptions& options) {
  experiment::Experiment experiment;
  experiment.shaping = "none";
  experiment.data = "random";
  experiment::apply_flags(experiment, options.sweep.settings);
  experiment = completed(std::move(experiment));
  auto read = experiment.device_profiles;
  read.insert(read.end(), {experiment.models.front(), experiment.weights, experiment.devices_file});
  for (const auto& file : read) check_not_replaced(file, options.out);
  render::check_target(options.out);
  const auto inputs = run::find_inputs(experiment);
  const launch::InterruptGuard interrupt;
  run::PipelineExecutor executor(executor_options(options.sweep, experiment, inputs, interrupt));
  const auto progress = [](const std::string& what) {
    if (::isatty(STDERR_FILENO) != 0) print_notice("profiling {}\n", what);
  };
  const auto profile = run::profile_devices(experiment, inputs, options.rounds, executor, progress);
  deliver(nlohmann::json(profile).dump() + "\n", options.out);
  return ExitCode::success;
}

}  // namespace

void add_profile(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ProfileOptions>();
  auto* command = app.add_subcommand("profile", "Time every run of a model's blocks on each device, to predict from");
  add_setting_flags(*command, options->sweep.settings,
                    "models input cuts max_crossing num_classes weights stages codec batch seed compute dtype "
                    "memory_format threads_per_stage compute_devices cpus on devices device_profiles "
                    "tuning.flush_denormals tuning.tune_malloc tuning.passive_openmp_wait trial_timeout_s");
  command->add_option("--rounds", options->rounds, "How often each run of blocks is timed")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--out", options->out, "Write to a file, whole or not at all")->type_name("FILE")->required();
  command->callback([options, &chosen] { chosen = [options] { return run_profile(*options); }; });
}

}  // namespace paretopipe::cli
