#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/render/exports.hpp>
#include <paretopipe/render/output.hpp>

#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

struct ExportOptions {
  std::string path;
  std::string layout = "python";
  render::TrialSelection selection;
  std::string out;
};

ExitCode run_export(const ExportOptions& options) {
  const auto& layout = render::find_export_layout(options.layout);
  const auto set = load_records(options.path);
  const auto made = layout.make(render::select_trials(set.records, options.selection));
  for (const auto& sentence : made.left_out) print_notice("left out: {}\n", sentence);
  if (made.files.empty()) {
    print_notice("{}: nothing to export\n", options.path);
    return ExitCode::negative;
  }
  const std::filesystem::path folder = options.out;
  for (const auto& file : made.files) check_not_replaced(options.path, folder / file.path);
  for (const auto& file : made.files) {
    render::make_folder((folder / file.path).parent_path());
    render::write_file(folder / file.path, file.content);
  }
  if (made.files.size() == 1) {
    print_notice("{}\n", (folder / made.files.front().path).string());
  } else {
    print_notice("{} files in {}\n", made.files.size(), folder.string());
  }
  return ExitCode::success;
}

std::string layout_help() {
  std::string text = "Layouts:\n";
  for (const auto& layout : render::export_layouts()) text += fmt::format("  {:<10}{}\n", layout.name, layout.meaning);
  return text;
}

}  // namespace

void add_export(CLI::App& app, Command& chosen) {
  auto* command = app.add_subcommand("export", "Write the trials as other programs want to read them");
  const auto options = std::make_shared<ExportOptions>();
  command->add_option("path", options->path, "Results folder, or a records file")->required();
  command->add_option("--layout", options->layout, "Which layout")->type_name("NAME")->capture_default_str();
  add_selection_options(*command, options->selection);
  command->add_option("--out", options->out, "Folder for the files")->type_name("DIR")->required();
  command->footer(layout_help);
  command->callback([options, &chosen] { chosen = [options] { return run_export(*options); }; });
}

}  // namespace paretopipe::cli
