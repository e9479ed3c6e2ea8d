#include <paretopipe/core/error.hpp>
#include <paretopipe/render/render_comparison.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

struct CompareOptions {
  std::string base;
  std::string now;
  std::vector<std::string> metrics{};
  std::vector<std::string> rules;
  bool strict = false;
  std::string format = "text";
  std::string out;
};

/// The metrics that are compared unless a person names some: those that the trials are measured for.
std::vector<std::string> usual_metrics(const std::vector<record::TrialRecord>& records) {
  const bool trained =
      std::any_of(records.begin(), records.end(), [](const auto& record) { return record.trial.training.has_value(); });
  if (trained) return {"step_time", "training_throughput", "peak_memory"};
  return {"latency_p50", "latency_p95", "throughput"};
}

compare::Request request_of(const CompareOptions& options, const std::vector<record::TrialRecord>& records) {
  compare::Request request;
  request.strict = options.strict;
  const auto look_at = [&](const record::Metric& metric) {
    const auto known = std::find(request.metrics.begin(), request.metrics.end(), &metric);
    if (known == request.metrics.end()) request.metrics.push_back(&metric);
  };
  for (const auto& name : options.metrics.empty() ? usual_metrics(records) : options.metrics)
    look_at(record::find_metric(name));
  for (const auto& text : options.rules) {
    request.rules.push_back(compare::parse_rule(text));
    look_at(*request.rules.back().metric);
  }
  return request;
}

std::string render_comparison(const compare::Comparison& comparison, const CompareOptions& options) {
  if (options.format == "json") return render::render_json(comparison);
  if (options.format == "junit") return render::render_junit(comparison);
  if (options.format == "markdown") return render::render_markdown(comparison);
  return render::render_text(comparison, text_style(options.out));
}

ExitCode run_compare(const CompareOptions& options) {
  if (options.rules.empty() && (options.strict || options.format == "junit")) {
    throw UsageError("--format junit and --strict are about rules: give at least one --fail-on");
  }
  check_not_replaced(options.base, options.out);
  check_not_replaced(options.now, options.out);
  const auto base = load_records(options.base);
  const auto now = load_records(options.now);
  auto request = request_of(options, now.records);
  const auto comparison =
      compare::compare({options.base, base.records}, {options.now, now.records}, std::move(request));
  deliver(render_comparison(comparison, options), options.out);
  return comparison.regression() ? ExitCode::negative : ExitCode::success;
}

constexpr const char* kHelp =
    "Repetitions that `sweep --against` measured in turns are compared pair by pair (Wilcoxon's signed-rank test), "
    "and\n"
    "those of separate sweeps side against side (the Mann-Whitney U test). A change is beyond noise if p < 0.05 after\n"
    "Holm's correction for all checks of its metric, one of each configuration and one of all together, and "
    "everything\n"
    "measured agrees on its direction. --fail-on is broken by a change that is past its threshold and beyond noise, "
    "and "
    "by\n"
    "a configuration of which no new repetition succeeded. A check that has too few repetitions is undecided: it does\n"
    "not fail, and the report says how many it takes; with --strict it fails. `paretopipe frontier --help` lists the\n"
    "metrics.\n"
    "Exit codes: 0 no rule is broken; 1 one is; 2 bad input, or no configuration in both; 3 the output cannot be "
    "written.";

}  // namespace

void add_compare(CLI::App& app, Command& chosen) {
  auto* command =
      app.add_subcommand("compare", "Show what changed beyond noise between two sweeps; fail on regressions");
  const auto options = std::make_shared<CompareOptions>();
  command->add_option("base", options->base, "Results folder or records file to compare with")->required();
  command->add_option("new", options->now, "Results folder or records file to judge")->required();
  add_repeatable(*command, "--fail-on", options->rules, "RULE",
                 "'METRIC < -N%' or 'METRIC > +N%': exit 1 on such a change; repeatable");
  add_repeatable(*command, "--metric", options->metrics, "METRIC",
                 "Metric to show; repeatable (latency_p50, latency_p95 and throughput; of training step_time, "
                 "training_throughput and peak_memory)");
  command->add_flag("--strict", options->strict,
                    "Fail as well where a rule cannot be decided, or the new records lack what the base has");
  add_format_option(*command, options->format, {"text", "markdown", "json", "junit"});
  add_out_option(*command, options->out);
  command->footer(kHelp);
  command->callback([options, &chosen] { chosen = [options] { return run_compare(*options); }; });
}

}  // namespace paretopipe::cli
