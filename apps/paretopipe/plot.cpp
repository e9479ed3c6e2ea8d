#include "plot.hpp"

#include <paretopipe/core/error.hpp>
#include <paretopipe/core/notice.hpp>
#include <paretopipe/report/frontier_plot.hpp>
#include <paretopipe/report/output.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "load_records.hpp"
#include "png.hpp"

namespace paretopipe::cli {
namespace {

struct PlotOptions {
  std::string path;
  std::string out;
  std::vector<std::string> objectives;
  std::vector<std::string> models;
  std::vector<std::string> networks;
  std::vector<int> batches;
  std::vector<int> micro_batches;
  std::vector<int> depths;
  std::vector<int> threads;
};

using Render = std::string (*)(const report::Plot& plot);

/// The renderer for the file's name. Throws UsageError, and EnvironmentError if this machine cannot render that format.
Render renderer_for(const std::filesystem::path& out) {
  if (out.extension() == ".svg") return report::render_svg;
  if (out.extension() == ".png") {
    require_png_renderer();
    return [](const report::Plot& plot) { return render_png(report::render_svg(plot)); };
  }
  throw UsageError(fmt::format("cannot plot to {}: a picture's name ends in .svg or .png", out.string()));
}

/// True for every value if nothing was chosen.
template <class T>
bool chosen_by(const std::vector<T>& choice, const T& value) {
  return choice.empty() || std::find(choice.begin(), choice.end(), value) != choice.end();
}

std::vector<record::TrialRecord> chosen_records(std::vector<record::TrialRecord> records, const PlotOptions& options) {
  std::erase_if(records, [&](const auto& record) {
    const auto& trial = record.trial;
    return !chosen_by(options.models, trial.model) || !chosen_by(options.networks, trial.network.name) ||
           !chosen_by(options.batches, trial.batch) ||
           !chosen_by(options.micro_batches, trial.images_per_micro_batch()) ||
           !chosen_by(options.depths, trial.depth) || !chosen_by(options.threads, trial.threads_per_stage);
  });
  return records;
}

ExitCode run_plot(const PlotOptions& options) {
  const auto render = renderer_for(options.out);
  auto objectives = report::parse_objectives(options.objectives);
  if (objectives.size() != 2) {
    throw UsageError(fmt::format("a plot has two axes and needs two objectives, not {}", objectives.size()));
  }
  check_not_replaced(options.path, options.out);
  auto set = load_records(options.path);
  const auto records = chosen_records(std::move(set.records), options);
  objectives = report::parse_objectives(options.objectives, report::measured_phases(records));
  const auto plot = report::make_plot(report::make_frontier_report(records, std::move(objectives)));
  const auto is_empty = [](const auto& series) { return series.points.empty(); };
  if (std::all_of(plot.series.begin(), plot.series.end(), is_empty)) {
    print_notice("{}: no trial that was chosen has both numbers, so there is nothing to plot\n", options.path);
    return ExitCode::negative;
  }
  report::write_file(options.out, render(plot));
  return ExitCode::success;
}

}  // namespace

void add_plot(CLI::App& app, Command& chosen) {
  auto* command = app.add_subcommand("plot", "Draw the frontier as a picture for papers and READMEs");
  const auto options = std::make_shared<PlotOptions>();
  command->add_option("path", options->path, "Results folder, or a records file")->required();
  command->add_option("-o,--out", options->out, "The picture, FILE.svg or FILE.png (needs rsvg-convert)")
      ->type_name("FILE")
      ->required();
  const auto add = [&](const char* flag, auto& values, const char* meaning, const char* type) {
    command->add_option(flag, values, meaning)->type_name(type)->allow_extra_args(false);  // one a flag; repeatable
  };
  add("--objective", options->objectives,
      "Metric[:min|max], x then y (latency_p50 and throughput; where one was not measured, payload)", "METRIC");
  add("--model", options->models, "Only this model; repeatable", "NAME");
  add("--network", options->networks, "Only this network; repeatable", "NAME");
  add("--batch", options->batches, "Only this batch; repeatable", "N");
  add("--micro-batch", options->micro_batches, "Only this micro-batch; repeatable", "N");
  add("--depth", options->depths, "Only this many batches in flight; repeatable", "N");
  add("--threads-per-stage", options->threads, "Only this many threads a stage; repeatable", "N");
  command->callback([options, &chosen] { chosen = [options] { return run_plot(*options); }; });
}

}  // namespace paretopipe::cli
