#include "export.hpp"

#include <paretopipe/core/error.hpp>
#include <paretopipe/report/export_layout.hpp>
#include <paretopipe/report/output.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "load_records.hpp"

namespace paretopipe::cli {
namespace {

struct Options {
  std::string path;
  std::string layout = "python";
  std::string out;
};

ExitCode run_export(const Options& options) {
  const auto& layout = report::find_export_layout(options.layout);
  const auto set = load_records(options.path);
  const auto made = layout.make(set.records);
  for (const auto& sentence : made.left_out) fmt::print(stderr, "left out: {}\n", sentence);
  if (made.files.empty()) {
    fmt::print(stderr, "{}: nothing to export\n", options.path);
    return ExitCode::negative;
  }
  const std::filesystem::path folder = options.out;
  for (const auto& file : made.files) {
    report::make_folder((folder / file.path).parent_path());
    report::write_file(folder / file.path, file.content);
  }
  fmt::print(stderr, "{} file{} in {}\n", made.files.size(), made.files.size() == 1 ? "" : "s", folder.string());
  return ExitCode::success;
}

std::string layout_help() {
  std::string text = "Layouts:\n";
  for (const auto& layout : report::export_layouts()) text += fmt::format("  {:<10}{}\n", layout.name, layout.meaning);
  return text;
}

}  // namespace

void add_export(CLI::App& app, Command& chosen) {
  auto* command = app.add_subcommand("export", "Write the trials as other programs want to read them");
  const auto options = std::make_shared<Options>();
  command->add_option("path", options->path, "Results folder, or a records file")->required();
  command->add_option("--layout", options->layout, "Which layout")->type_name("NAME")->capture_default_str();
  command->add_option("--out", options->out, "Folder for the files")->type_name("DIR")->required();
  command->footer(layout_help);
  command->callback([options, &chosen] { chosen = [options] { return run_export(*options); }; });
}

}  // namespace paretopipe::cli
