#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/version.hpp>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>  // fmt::join, from fmt 11 on

#include "commands.hpp"

namespace {

using namespace paretopipe;

constexpr const char* kExitCodes =
    "Exit codes: 0 success; 1 the answer is bad (a trial failed, a check found a problem); 2 bad flag, file or value;\n"
    "3 this machine cannot do what was asked; 4 a defect of paretopipe; 130 interrupted.";

/// Names a mistyped command; CLI11 only says that a command is required. `argv`: the name of `app` and what follows it.
void refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> commands;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (argc > 1 && command->get_name() == argv[1]) return refuse_unknown_command(*command, argc - 1, argv + 1);
    if (!command->get_group().empty()) commands.push_back(command->get_name());
  }
  if (commands.empty() || argc < 2 || argv[1][0] == '-') return;
  throw UsageError(fmt::format("there is no command \"{}\"; the commands are {}{}", argv[1], fmt::join(commands, ", "),
                               did_you_mean(argv[1], commands)));
}

/// Names the first argument that the given command does not have, and the flag that may have been meant; CLI11 lists
/// all of them, from last to first.
[[noreturn]] void refuse_unknown_argument(const CLI::App& app) {
  const auto* command = &app;
  auto name = app.get_name();
  // CLI11 leaves an argument before a subcommand with the command above it.
  for (auto given = app.get_subcommands(); command->remaining().empty() && !given.empty();
       given = command->get_subcommands()) {
    command = given.front();
    name += " " + command->get_name();
  }
  std::vector<std::string> flags;
  for (const auto* option : command->get_options()) {
    for (const auto& flag : option->get_lnames()) flags.push_back("--" + flag);
  }
  auto left = command->remaining();
  std::erase(left, "--");
  const auto unknown = left.empty() ? std::string("--") : left.front();
  const auto flag = unknown.substr(0, unknown.find('='));
  throw UsageError(flag.starts_with('-') ? fmt::format("{} has no flag {}; \"{} --help\" lists those that it has{}",
                                                       name, flag, name, did_you_mean(flag, flags))
                                         : fmt::format("{} does not know what to do with \"{}\"; \"{} --help\" says "
                                                       "what it expects",
                                                       name, unknown, name));
}

ExitCode run(int argc, char** argv) {
  CLI::App app("Where should a neural network be cut across devices, and is it worth cutting at all?", "paretopipe");
  app.set_version_flag("--version", fmt::format("paretopipe {} ({})", version(), git_state()));
  app.footer(kExitCodes);
  app.require_subcommand(1);

  cli::Command chosen;
  cli::add_models(app, chosen);
  cli::add_codecs(app, chosen);
  cli::add_sweep(app, chosen, {argv, argv + argc});
  cli::add_run(app, chosen);
  cli::add_train(app, chosen);
  cli::add_profile(app, chosen);
  cli::add_predict(app, chosen);
  cli::add_frontier(app, chosen);
  cli::add_explain(app, chosen);
  cli::add_report(app, chosen);
  cli::add_plot(app, chosen);
  cli::add_merge(app, chosen);
  cli::add_compare(app, chosen);
  cli::add_export(app, chosen);
  cli::add_net(app, chosen);
  cli::add_calibrate(app, chosen, {argv, argv + argc});
  cli::add_devices(app, chosen);
  cli::add_doctor(app, chosen);

  refuse_unknown_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    refuse_unknown_argument(app);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? ExitCode::success : ExitCode::usage;
  }
  const auto code = chosen();
  // Output cut off by a full disk must not look like a success.
  if (std::fflush(stdout) != 0) throw system_error("write to standard output", errno);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const paretopipe::Error& error) {
    paretopipe::print_notice("paretopipe: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::system_error& error) {  // fmt throws it if the output cannot be written
    paretopipe::print_notice("paretopipe: {}\n", error.what());
    return static_cast<int>(paretopipe::ExitCode::environment);
  } catch (const std::exception& error) {
    paretopipe::print_notice("paretopipe: a defect of paretopipe: {}\n", error.what());
    return static_cast<int>(paretopipe::ExitCode::internal);
  }
}
