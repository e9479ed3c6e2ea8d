#include <paretopipe/core/text.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/host/health.hpp>
#include <paretopipe/host/observe.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/render/output.hpp>
#include <paretopipe/render/render_data_sheet.hpp>
#include <paretopipe/run/pipeline_executor.hpp>
#include <paretopipe/run/sweep.hpp>

#include <filesystem>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

constexpr std::size_t kStages = 2;
/// A trial of the grid takes a few seconds; a stage that is silent for so long will not come back.
constexpr int kTrialTimeoutSeconds = 60;

struct CalibrateOptions {
  bool quick = false;
  std::optional<int> repetitions;
  std::string format = "table";
  std::filesystem::path out;
  std::vector<std::string> command_line;
};

calibration::Effort effort_of(const CalibrateOptions& options) {
  auto effort =
      options.quick ? calibration::Effort{.batches = 12, .warmup = 2, .repetitions = 1} : calibration::Effort{};
  if (options.repetitions) effort.repetitions = *options.repetitions;
  return effort;
}

/// The conditions before the measurement, without its own load.
calibration::Conditions conditions_before() {
  calibration::Conditions conditions;
  conditions.host = host::read_host_context();
  for (auto& finding : host::judge_cpus(host::observe(std::nullopt))) {
    if (finding.level == host::Level::warning || finding.level == host::Level::problem)
      conditions.findings.push_back(std::move(finding));
  }
  return conditions;
}

std::vector<record::TrialRecord> measure(const std::vector<experiment::Trial>& trials,
                                         const record::Provenance& provenance) {
  const launch::InterruptGuard interrupt;
  run::ExecutorOptions executor_options;
  executor_options.stage_program = launch::find_stage_program();
  executor_options.timeout_s = kTrialTimeoutSeconds;
  executor_options.interrupt_descriptor = interrupt.descriptor();
  executor_options.provenance = provenance;
  run::PipelineExecutor executor(executor_options);
  Progress progress(trials.size(), 0, false);
  std::vector<record::TrialRecord> records;
  // Nothing is measured again: the question is how far off the instrument is on this machine, slow windows included.
  run::Sweep sweep(executor, [&](const record::TrialRecord& record) { records.push_back(record); }, progress.observer(),
                   trials.size(), {.per_trial = 0});
  executor.expect(trials);
  for (const auto& trial : trials) sweep.run(trial);
  return records;
}

std::string render_data_sheet(const calibration::DataSheet& sheet, const std::string& format) {
  if (format == "json") return render::render_json(sheet);
  if (format == "markdown") return render::render_markdown(sheet);
  return render::render_text(sheet);
}

ExitCode run_calibrate(const CalibrateOptions& options) {
  if (!options.out.empty()) render::check_target(options.out);
  calibration::DataSheet sheet;
  sheet.effort = effort_of(options);
  sheet.conditions = conditions_before();
  for (const auto& set : host::deal_cpus(host::current_affinity(), kStages)) sheet.cpus.push_back(host::to_string(set));
  sheet.provenance = {std::string(version()), std::string(git_state()), options.command_line, {}};

  const auto grid = options.quick ? calibration::quick_grid() : calibration::full_grid();
  std::vector<record::TrialRecord> records;
  try {
    records = measure(calibration::trials_of(grid, sheet.effort, sheet.cpus), sheet.provenance);
  } catch (const Interrupted&) {
    print_notice("paretopipe: interrupted; a data sheet is of the whole grid, so nothing was written\n");
    return ExitCode::interrupted;
  }
  sheet.provenance.started_at = records.front().provenance.started_at;
  sheet.cells = calibration::results_of(grid, records);

  const auto text = render_data_sheet(sheet, options.format);
  if (options.out.empty()) {
    render::write_standard_output(text);
  } else {
    render::write_file(options.out, text);
    fmt::print("{}; data sheet in {}\n", render::verdict(sheet), options.out.string());
  }
  return sheet.kept() ? ExitCode::success : ExitCode::negative;
}

}  // namespace

void add_calibrate(CLI::App& app, Command& chosen, std::vector<std::string> command_line) {
  const auto options = std::make_shared<CalibrateOptions>();
  options->command_line = std::move(command_line);
  auto* command = app.add_subcommand("calibrate", "Measure this tool's own error against models whose truth is known");
  command->add_flag("--quick", options->quick, "A small grid, once: seconds instead of a minute or two");
  command->add_option("--repeat", options->repetitions, "Repetitions of every cell (3; quick: 1)")
      ->check(CLI::Range(1, 1000));
  add_format_option(*command, options->format, {"table", "json", "markdown"});
  command->add_option("--out", options->out, "Write to a file, whole or not at all")->type_name("FILE");
  command->footer([] {
    std::string text = "Measured for every cell of the grid (a compute time, a payload, a network):\n";
    for (const auto& quantity : calibration::quantities())
      text += fmt::format("  {:<24}{}\n", quantity.name, quantity.meaning);
    return text + "Exits with 1 if a median error is larger than 1 % of the truth and than 100 us.";
  });
  command->callback([options, &chosen] { chosen = [options] { return run_calibrate(*options); }; });
}

}  // namespace paretopipe::cli
