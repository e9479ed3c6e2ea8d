#include <paretopipe/analysis/calibration/data_sheet.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/render/output.hpp>
#include <paretopipe/render/page/page.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands.hpp"
#include "load_profiles.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

/// The name of the data sheet beside the records.
constexpr const char* kDataSheetName = "calibration.json";

struct ReportOptions {
  std::string path;
  std::string out;
  std::optional<std::string> calibration;
  std::vector<std::string> profiles;
};

/// The requested data sheet, or else the one beside the records, if there is one.
std::optional<calibration::DataSheet> find_data_sheet(const ReportOptions& options) {
  const auto beside = record::records_file(options.path).parent_path() / kDataSheetName;
  std::error_code unknown;  // reading tells more
  if (!options.calibration && !std::filesystem::exists(beside, unknown)) return std::nullopt;
  const auto file = options.calibration ? std::filesystem::path(*options.calibration) : beside;
  check_not_replaced(file, options.out);
  return calibration::read_data_sheet(file);
}

ExitCode run_report(const ReportOptions& options) {
  page::require_renderer();
  check_not_replaced(options.path, options.out);
  const auto set = load_records(options.path);
  if (set.records.empty()) {
    print_notice("{}: it holds no trial, so there is nothing to report\n", options.path);
    return ExitCode::negative;
  }
  const page::Supplement supplement{
      .replaced = set.replaced,
      .data_sheet = find_data_sheet(options),
      .predictions = predict::verify_all(load_profiles(options.profiles, options.path, options.out), set.records)};
  render::write_file(options.out, page::render_page(page::make_page_data(set.records, supplement)));
  print_notice("{}: open it in a browser\n", options.out);
  return ExitCode::success;
}

}  // namespace

void add_report(CLI::App& app, Command& chosen) {
  auto* command = app.add_subcommand("report", "Write everything about a sweep as one page that needs nothing else");
  const auto options = std::make_shared<ReportOptions>();
  command->add_option("path", options->path, "Results folder, or a records file")->required();
  command->add_option("-o,--out", options->out, "The page, written whole or not at all")->type_name("FILE")->required();
  command
      ->add_option("--calibration", options->calibration,
                   fmt::format("Data sheet to show, as `calibrate --format json` writes it ({} beside the records, if "
                               "there is one)",
                               kDataSheetName))
      ->type_name("FILE");
  add_profiles_option(*command, options->profiles);
  command->callback([options, &chosen] { chosen = [options] { return run_report(*options); }; });
}

}  // namespace paretopipe::cli
