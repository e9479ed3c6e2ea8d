#include <paretopipe/analysis/frontier/objective.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/render_frontier.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

struct FrontierOptions {
  std::string path;
  std::vector<std::string> objectives;
  std::vector<std::string> constraints;
  std::vector<std::string> reference;
  std::string format = "table";
  std::string out;
};

std::string render_frontier(const frontier::FrontierReport& report, const FrontierOptions& options) {
  if (options.format == "csv") return render::render_csv(report);
  if (options.format == "json") return render::render_json(report);
  if (options.format == "markdown") return render::render_markdown(report);
  return render::render_text(report, text_style(options.out));
}

ExitCode run_frontier(const FrontierOptions& options) {
  frontier::parse_objectives(options.objectives);  // checked before anything is read
  frontier::FrontierOptions analysis;
  analysis.constraints = frontier::parse_constraints(options.constraints);
  check_not_replaced(options.path, options.out);
  const auto set = load_records(options.path);
  auto objectives = frontier::parse_objectives(options.objectives, frontier::measured_phases(set.records));
  analysis.reference = frontier::parse_reference(options.reference, objectives);
  const auto ok = [](const record::TrialRecord& record) { return record.status == record::Status::ok; };
  if (std::none_of(set.records.begin(), set.records.end(), ok)) {
    const auto why = set.records.empty() ? "it holds no trial"
                                         : fmt::format("none of its {} has a result that counts",
                                                       record::quantity(set.records.size(), "trial"));
    print_notice("{}: {}, so there is no frontier\n", options.path, why);
    return ExitCode::negative;
  }

  const auto report =
      frontier::make_frontier_report(set.records, std::move(objectives), std::move(analysis), set.replaced);
  deliver(render_frontier(report, options), options.out);
  const bool any = std::any_of(report.groups.begin(), report.groups.end(),
                               [](const auto& group) { return group.recommendation.has_value(); });
  return any ? ExitCode::success : ExitCode::negative;
}

std::string metric_help() {
  std::string text = "Metrics (with the direction that is good unless the objective says otherwise):\n";
  for (const auto& metric : record::metrics()) {
    text += fmt::format("  {:<24}{}  {}\n", metric.name, metric.better == record::Direction::min ? "min" : "max",
                        metric.meaning);
  }
  return text;
}

}  // namespace

void add_frontier(CLI::App& app, Command& chosen) {
  auto* command = app.add_subcommand("frontier", "Show the splits that nothing beats");
  const auto options = std::make_shared<FrontierOptions>();
  command->add_option("path", options->path, "Results folder, or a records file")->required();
  add_repeatable(
      *command, "--objective", options->objectives, "METRIC",
      "Metric[:min|max]; repeatable (latency_p50 and throughput; where one was not measured, payload; of training, "
      "step_time and peak_memory)");
  add_repeatable(*command, "--where", options->constraints, "CONSTRAINT",
                 "Only splits that keep it: 'latency_p95 < 80ms', 'codec = sort8'; repeatable");
  add_repeatable(*command, "--reference", options->reference, "METRIC=VALUE",
                 "The hypervolume counts up to here: latency_p50=500ms; repeatable (the worst measured of each)");
  add_format_option(*command, options->format, {"table", "csv", "json", "markdown"});
  add_out_option(*command, options->out);
  command->footer(metric_help);
  command->callback([options, &chosen] { chosen = [options] { return run_frontier(*options); }; });
}

}  // namespace paretopipe::cli
