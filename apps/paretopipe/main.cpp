#include <paretopipe/core/error.hpp>
#include <paretopipe/core/version.hpp>

#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "command.hpp"
#include "doctor.hpp"
#include "export.hpp"
#include "frontier.hpp"
#include "models.hpp"
#include "sweep.hpp"

namespace {

using namespace paretopipe;

constexpr const char* kExitCodes =
    "Exit codes: 0 success; 1 the answer is bad (a trial failed, a check found a problem); 2 bad flag, file or value;\n"
    "3 this machine cannot do what was asked; 4 a defect of paretopipe; 130 interrupted.";

ExitCode run(int argc, char** argv) {
  CLI::App app("Where should a neural network be cut across devices, and is it worth cutting at all?", "paretopipe");
  app.set_version_flag("--version", fmt::format("paretopipe {} ({})", version(), git_state()));
  app.footer(kExitCodes);
  app.require_subcommand(1);

  cli::Command chosen;
  cli::add_models(app, chosen);
  cli::add_sweep(app, chosen, {argv, argv + argc});
  cli::add_frontier(app, chosen);
  cli::add_export(app, chosen);
  cli::add_doctor(app, chosen);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? ExitCode::success : ExitCode::usage;
  }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const paretopipe::Error& error) {
    fmt::print(stderr, "paretopipe: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "paretopipe: a defect of paretopipe: {}\n", error.what());
    return static_cast<int>(paretopipe::ExitCode::internal);
  }
}
