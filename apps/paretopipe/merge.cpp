#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/record/store.hpp>
#include <paretopipe/render/output.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>  // fmt::join, from fmt 11 on

#include "commands.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

namespace fs = std::filesystem;

struct MergeOptions {
  std::vector<std::string> paths;
  std::string out;
};

/// A name that ends in .jsonl, or that exists and is not a folder, is the file; any other name is a folder for it.
fs::path output_file(const fs::path& out) {
  std::error_code unknown;
  const auto status = fs::status(out, unknown);
  const bool file = fs::exists(status) ? !fs::is_directory(status) : out.extension() == ".jsonl";
  return file ? out : out / record::kRecordsFileName;
}

ExitCode run_merge(const MergeOptions& options) {
  const auto file = output_file(options.out);
  std::error_code unknown;
  if (fs::is_regular_file(file, unknown)) {
    throw UsageError(fmt::format("{} exists already; choose another --out", file.string()));
  }
  const auto merged = record::merge({options.paths.begin(), options.paths.end()}, stats::check_summary);
  print_warnings(merged.warnings);
  if (merged.trials == 0) {
    print_notice("{}: no trial to merge, so nothing was written\n", fmt::join(options.paths, ", "));
    return ExitCode::negative;
  }
  if (!file.parent_path().empty()) render::make_folder(file.parent_path());
  render::write_file(file, merged.text);
  fmt::print("{} of {} in {}\n", record::quantity(merged.trials, "trial"),
             record::quantity(options.paths.size(), "file"), file.string());
  return ExitCode::success;
}

}  // namespace

void add_merge(CLI::App& app, Command& chosen) {
  auto* command = app.add_subcommand("merge", "Join the records of several sweeps into one file");
  const auto options = std::make_shared<MergeOptions>();
  command->add_option("paths", options->paths, "Results folders, or records files")->required();
  command->add_option("--out", options->out, "Folder for the joined records.jsonl, or a file NAME.jsonl; must be new")
      ->type_name("DIR|FILE")
      ->required();
  command->footer(
      "Refused, with files, lines and trial: a trial that two of them have; repetitions of one configuration from\n"
      "different machines, whose median would be no machine's; records of another schema, and damaged ones.");
  command->callback([options, &chosen] { chosen = [options] { return run_merge(*options); }; });
}

}  // namespace paretopipe::cli
