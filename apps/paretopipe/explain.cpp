#include <paretopipe/core/text.hpp>
#include <paretopipe/render/exports.hpp>
#include <paretopipe/render/render_diagnosis.hpp>
#include <paretopipe/render/render_prediction.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "load_profiles.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

struct ExplainOptions {
  std::string path;
  render::TrialSelection selection;
  std::vector<std::string> profiles;
  std::string format = "text";
  std::string out;
};

std::string render_explanation(const std::vector<diagnosis::GroupDiagnosis>& groups,
                               const std::vector<predict::VerifiedGroup>& predictions, const ExplainOptions& options) {
  if (options.format == "json") return render::render_json(groups, predictions);
  const auto beside = render::render_text(predictions, {.unicode = false});
  if (options.format == "text") return render::render_text(groups) + beside;
  return render::render_markdown(groups) + (beside.empty() ? "" : fmt::format("\n```text{}```\n", beside));
}

bool any_diagnosis(const std::vector<diagnosis::GroupDiagnosis>& groups) {
  return std::any_of(groups.begin(), groups.end(), [](const auto& group) {
    return std::any_of(group.configurations.begin(), group.configurations.end(),
                       [](const auto& one) { return one.wanted && one.has_result() && !one.lacks_phase(); });
  });
}

ExitCode run_explain(const ExplainOptions& options) {
  check_not_replaced(options.path, options.out);
  const auto set = load_records(options.path);
  if (set.records.empty()) {
    print_notice("{}: it holds no trial, so there is nothing to explain\n", options.path);
    return ExitCode::negative;
  }
  const auto wanted = render::select_trials(set.records, options.selection);
  std::set<std::string> ids;
  for (const auto& record : wanted) ids.insert(record.trial.id());
  const auto groups = diagnosis::diagnose(set.records, ids);
  const auto predictions = predict::verify_all(load_profiles(options.profiles, options.path, options.out), wanted);
  deliver(render_explanation(groups, predictions, options), options.out);
  return any_diagnosis(groups) ? ExitCode::success : ExitCode::negative;
}

}  // namespace

void add_explain(CLI::App& app, Command& chosen) {
  auto* command = app.add_subcommand("explain", "Say what bounds the throughput, and what a change would bring");
  const auto options = std::make_shared<ExplainOptions>();
  command->add_option("path", options->path, "Results folder, or a records file")->required();
  add_selection_options(*command, options->selection);
  add_profiles_option(*command, options->profiles);
  add_format_option(*command, options->format, {"text", "markdown", "json"});
  add_out_option(*command, options->out);
  command->callback([options, &chosen] { chosen = [options] { return run_explain(*options); }; });
}

}  // namespace paretopipe::cli
