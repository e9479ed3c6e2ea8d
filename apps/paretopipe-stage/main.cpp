#include <paretopipe/compute/archive/script_backend.hpp>
#include <paretopipe/compute/synthetic/synthetic_backend.hpp>
#include <paretopipe/compute/train/gloo.hpp>
#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/core/control_descriptor.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/launch/guard.hpp>
#include <paretopipe/shaping/interface/lease.hpp>
#include <paretopipe/stage/relays.hpp>
#include <paretopipe/stage/session.hpp>
#include <paretopipe/wire/link.hpp>

#include <csignal>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "model_router.hpp"

namespace {

using namespace paretopipe;

ExitCode run(int argc, char** argv) {
  CLI::App app("A stage of a pipeline. `paretopipe` starts it; there is nothing to be done with it by hand.",
               "paretopipe-stage");
  app.set_version_flag("--version", fmt::format("paretopipe-stage {} ({})", version(), git_state()));
  app.require_subcommand(1);
  app.add_subcommand("serve", "Serve the driver at the other end of the control link (file descriptor 3)");
  const auto* guard = app.add_subcommand(
      "guard", "Start a stage for a driver on another host, at the other end of stdin and stdout, and watch over it");
  const auto* relay =
      app.add_subcommand("relay", "Emulate the network of a stage's links, for the stage at file descriptor 3");
  const auto* keep_lease =
      app.add_subcommand("keep-lease", "Shape an interface for as long as the stage at file descriptor 3 runs");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? ExitCode::success : ExitCode::usage;
  }
  if (guard->parsed()) return static_cast<ExitCode>(launch::guard_stage(launch::guarded_program()));
  if (keep_lease->parsed()) {
    shaping::keep_lease(FileDescriptor(kControlDescriptor));
    return ExitCode::success;
  }
  wire::Link control(kControlDescriptor);
  if (relay->parsed()) {
    stage::serve_relays(control);
    return ExitCode::success;
  }
  ::signal(SIGPIPE, SIG_IGN);  // Gloo writes to replicas that may be gone
  const auto backend =
      make_model_router(zoo::make_model_backend(), archive::make_script_backend(), synthetic::make_synthetic_backend());
  stage::serve(control, *backend, train::join_by_gloo);
  return ExitCode::success;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const paretopipe::Error& error) {
    paretopipe::print_notice("paretopipe-stage: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    paretopipe::print_notice("paretopipe-stage: a defect of paretopipe: {}\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}
