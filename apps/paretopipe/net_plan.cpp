#include <paretopipe/core/error.hpp>
#include <paretopipe/core/notice.hpp>
#include <paretopipe/shaping/interface/interface_mtu.hpp>
#include <paretopipe/shaping/interface/peer_shaping.hpp>

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "net_commands.hpp"

namespace paretopipe::cli {
namespace {

struct NetPlanOptions {
  std::string profile;
  std::string interface;
  std::string peer;
  std::optional<std::uint16_t> port;
  std::string direction = "forward";
};

/// Without a peer, the commands that people would type: they shape everything that leaves the interface.
shaping::PeerPlan plan(const NetPlanOptions& options, const config::LinkConditions& conditions) {
  if (!options.peer.empty()) {
    shaping::PeerTarget target{options.interface, options.peer, options.port};
    target.mtu = shaping::interface_mtu(options.interface).value_or(target.mtu);  // it may be another device's
    return shaping::plan_peer_shaping(target, conditions);
  }
  if (options.port) throw UsageError("--port needs --peer: a port alone does not say whose");
  shaping::check_interface_name(options.interface);
  return {shaping::shape_commands(options.interface, conditions), shaping::clear_command(options.interface)};
}

/// For a plan without a peer; one with a peer cuts by itself.
void say_how_to_cut(const std::string& interface) {
  print_notice(
      "note: {} may hand netem up to 64 KiB of TCP at once, which it delays, loses and paces as one packet; to "
      "have it take frame by frame, run \"{}\" before (65535 after)\n",
      interface, to_line(shaping::offload_off_command(interface)));
}

ExitCode run_plan(const NetPlanOptions& options) {
  const auto profile = config::load_network_profile(options.profile);
  const auto& conditions = conditions_of(profile, options.direction);
  if (!conditions.shaped()) {
    throw UsageError(fmt::format("the profile {} shapes nothing {}; choose another one, or the other --direction",
                                 profile.name, options.direction));
  }
  const auto planned = plan(options, conditions);
  fmt::print("# {} {}: {}\n", profile.name, options.direction, describe(conditions));
  for (const auto& command : planned.apply) fmt::print("{}\n", to_line(command));
  fmt::print("# undo:\n{}\n", to_line(planned.undo));
  if (options.peer.empty()) {
    print_notice("note: without --peer these shape all that leaves {}, SSH included; `net apply` refuses that\n",
                 options.interface);
    if (shaping::needs_netem(conditions)) say_how_to_cut(options.interface);
  }
  for (const auto& warning : shaping::warnings(conditions)) print_notice("note: {}\n", warning);
  return ExitCode::success;
}

}  // namespace

void add_net_plan(CLI::App& net, Command& chosen) {
  auto options = std::make_shared<NetPlanOptions>();
  auto* command = net.add_subcommand("plan", "Print the tc commands that `net apply` would run, and run nothing");
  command->add_option("profile", options->profile, "A profile that ships, or a file")->type_name("PROFILE")->required();
  command->add_option("--interface", options->interface, "The interface whose outgoing traffic is to be shaped")
      ->type_name("NAME")
      ->required();
  command->add_option("--peer", options->peer, "Only traffic to this IP address")->type_name("ADDRESS");
  command->add_option("--port", options->port, "Only TCP to or from this port of the peer, or of this host")
      ->check(CLI::Range(1, 65535));
  command->add_option("--direction", options->direction, "Of the profile: forward on the first host, else backward")
      ->check(CLI::IsMember({"forward", "backward"}))
      ->capture_default_str();
  command->callback([options, &chosen] { chosen = [options] { return run_plan(*options); }; });
}

}  // namespace paretopipe::cli
