#include "report.hpp"

#include <paretopipe/core/error.hpp>
#include <paretopipe/core/notice.hpp>
#include <paretopipe/page/page.hpp>
#include <paretopipe/page/page_data.hpp>
#include <paretopipe/report/output.hpp>

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "load_records.hpp"

namespace paretopipe::cli {
namespace {

struct Options {
  std::string path;
  std::string out;
};

ExitCode run_report(const Options& options) {
  page::require_renderer();
  const auto set = load_records(options.path);
  if (set.records.empty()) {
    print_notice("{}: it holds no trial, so there is nothing to report\n", options.path);
    return ExitCode::negative;
  }
  report::write_file(options.out, page::render_page(page::make_page_data(set.records)));
  print_notice("{}: open it in a browser\n", options.out);
  return ExitCode::success;
}

}  // namespace

void add_report(CLI::App& app, Command& chosen) {
  auto* command = app.add_subcommand("report", "Write everything about a sweep as one page that needs nothing else");
  const auto options = std::make_shared<Options>();
  command->add_option("path", options->path, "Results folder, or a records file")->required();
  command->add_option("-o,--out", options->out, "The page, written whole or not at all")->type_name("FILE")->required();
  command->callback([options, &chosen] { chosen = [options] { return run_report(*options); }; });
}

}  // namespace paretopipe::cli
