#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/render/output.hpp>
#include <paretopipe/render/table.hpp>
#include <paretopipe/shaping/probe/remote_probe.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "net_commands.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

struct NetProbeOptions {
  std::string server;
  std::string listen;
  bool keep = false;
  std::string measuring = "2s";
  std::string format = "table";
  std::string profile_out;
};

ExitCode serve(const NetProbeOptions& options) {
  shaping::ProbeServer server(shaping::parse_endpoint(options.listen));
  const auto& name = server.name();
  const bool any_address = name.starts_with("0.0.0.0:") || name.starts_with("[::]:");
  fmt::print("listening on {}; on the other host: paretopipe net probe {}\n", name,
             any_address ? "ADDRESS" + name.substr(name.rfind(':')) : name);
  do {
    std::fflush(stdout);
    try {
      fmt::print("served a probe of {}\n", server.serve_one());
    } catch (const EnvironmentError& error) {
      if (!options.keep) throw;
      print_notice("paretopipe: {}\n", error.what());
    }
  } while (options.keep);
  return ExitCode::success;
}

shaping::RemoteProbeOptions probe_options(const NetProbeOptions& options) {
  shaping::RemoteProbeOptions chosen;
  chosen.measuring = parse_duration(options.measuring);
  if (chosen.measuring < std::chrono::milliseconds(100) || chosen.measuring > std::chrono::seconds(30)) {
    throw UsageError(fmt::format("--for {}: it must be between 100ms and 30s", options.measuring));
  }
  chosen.settling = std::max(chosen.measuring / 2, Nanoseconds(std::chrono::milliseconds(200)));
  if (::isatty(STDERR_FILENO) != 0) {
    chosen.progress = [](const std::string& what) { print_notice("measuring {} …\n", what); };
  }
  return chosen;
}

std::string duration(Nanoseconds time) {
  return format_duration(static_cast<double>(time.count()));
}

std::string rate(double bit_per_s) {
  return format_count(bit_per_s) + "bit/s";
}

std::string table_text(const shaping::RemoteProbe& probe) {
  render::Table table({{"what"}, {"measured", render::Align::right}});
  table.add_row({"round trip, smallest", duration(probe.round_trip_min)});
  table.add_row({"round trip, median", duration(probe.round_trip_median)});
  table.add_row({"jitter (standard deviation of the round trip)", duration(probe.round_trip_deviation)});
  table.add_row({"goodput forward (from here to there)", rate(probe.forward_bit_per_s)});
  table.add_row({"goodput backward", rate(probe.backward_bit_per_s)});
  return table.to_text();
}

void print(const shaping::RemoteProbe& probe, const nlohmann::json& profile, const NetProbeOptions& options) {
  if (options.format == "json") {
    nlohmann::json document(probe);
    document["peer"] = options.server;
    document["suggested_profile"] = profile;
    fmt::print("{}", render::json_text(document));
    return;
  }
  fmt::print("{} round trips, and transfers of {} each\n\n{}\n", probe.round_trips, options.measuring,
             table_text(probe));
  if (!options.profile_out.empty()) return;
  fmt::print("As a profile (--profile-out FILE writes it):\n{}", render::json_text(profile));
}

ExitCode run_probe(const NetProbeOptions& options) {
  if (options.server.empty() == options.listen.empty()) {
    throw UsageError("either name the host to probe, as in 192.168.1.7:5000, or --listen on this one for its probe");
  }
  if (!options.listen.empty()) return serve(options);
  const auto server = shaping::parse_endpoint(options.server);
  if (!options.profile_out.empty()) render::check_target(options.profile_out);
  const auto probe = shaping::probe_host(server, probe_options(options));
  const auto profile = suggest_profile(probe, fmt::format("measured by `paretopipe net probe {}`", options.server));
  print(probe, profile, options);
  if (options.profile_out.empty()) return ExitCode::success;
  render::write_file(options.profile_out, render::json_text(profile));
  if (options.format != "json") fmt::print("wrote {}, a profile for --network\n", options.profile_out);
  return ExitCode::success;
}

}  // namespace

void add_net_probe(CLI::App& net, Command& chosen) {
  auto options = std::make_shared<NetProbeOptions>();
  auto* command = net.add_subcommand("probe", "Measure round trip, jitter and rate between two hosts over TCP");
  command->add_option("server", options->server, "The host that listens, and its port")->type_name("ADDRESS:PORT");
  auto* listen = command->add_option("--listen", options->listen, "Serve one probe at this address of this host")
                     ->type_name("ADDRESS:PORT");
  command->add_flag("--keep", options->keep, "Serve one probe after another, until Ctrl-C")->needs(listen);
  command->add_option("--for", options->measuring, "How long to measure each direction's rate")
      ->type_name("DURATION")
      ->excludes(listen)
      ->capture_default_str();
  add_format_option(*command, options->format, {"table", "json"})->excludes(listen);
  command->add_option("--profile-out", options->profile_out, "Write a network profile that does what was measured")
      ->type_name("FILE")
      ->excludes(listen);
  command->footer(
      "Run `paretopipe net probe --listen 0.0.0.0:5000` on one host and `paretopipe net probe ADDRESS:5000` on the\n"
      "other. The suggested profile delays each direction by half the median round trip; its jitter is the round\n"
      "trip's standard deviation / sqrt(2), its rate the goodput and TCP's headers. Anybody who reaches the port may\n"
      "probe: there is no authentication.");
  command->callback([options, &chosen] { chosen = [options] { return run_probe(*options); }; });
}

}  // namespace paretopipe::cli
