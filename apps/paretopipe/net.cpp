#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/render/table.hpp>
#include <paretopipe/shaping/interface/peer_shaping.hpp>
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "net_commands.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {

namespace {

struct NetPlanOptions {
  std::string profile;
  std::string interface;
  std::string peer;
  std::optional<std::uint16_t> port;
  std::string direction = "forward";
};

/// The command as a person types it.
std::string to_line(const shaping::Command& command) {
  return fmt::format("{}", fmt::join(command, " "));
}

/// Without a peer, returns the commands that people would type, which shape everything that leaves the interface.
shaping::PeerPlan plan(const NetPlanOptions& options, const experiment::LinkConditions& conditions) {
  if (!options.peer.empty()) {
    shaping::PeerTarget target{options.interface, options.peer};
    if (options.port) target.ports = {*options.port};
    target.mtu = shaping::interface_mtu(options.interface).value_or(target.mtu);  // it may be another device's
    return shaping::plan_peer_shaping(target, conditions);
  }
  if (options.port) throw UsageError("--port needs --peer: a port alone does not say whose");
  shaping::check_interface_name(options.interface);
  return {shaping::shape_commands(options.interface, conditions), shaping::clear_command(options.interface)};
}

/// Only for a plan without a peer: one with a peer cuts by itself.
void say_how_to_cut(const std::string& interface) {
  print_notice(
      "note: {} may hand netem up to 64 KiB of TCP at once, which it delays, loses and paces as one packet; to "
      "have it take frame by frame, run \"{}\" before (65535 after)\n",
      interface, to_line(shaping::offload_off_command(interface)));
}

ExitCode run_plan(const NetPlanOptions& options) {
  const auto profile = experiment::load_network_profile(options.profile);
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
  command
      ->add_option("--direction", options->direction,
                   "Direction of the profile: forward on the first host, otherwise backward")
      ->check(CLI::IsMember({"forward", "backward"}))
      ->capture_default_str();
  command->callback([options, &chosen] { chosen = [options] { return run_plan(*options); }; });
}

struct ShowOptions {
  std::string profile;
  std::string format = "table";
};

std::string description_of(const std::string& name) {
  for (const auto& network : experiment::shipped_networks()) {
    if (network.name == name) return network.description;
  }
  return {};
}

nlohmann::json to_document(const experiment::NetworkProfile& profile, const std::string& description) {
  nlohmann::json document(profile);
  if (!description.empty()) document["description"] = description;
  return document;
}

void show_all(bool as_json) {
  auto documents = nlohmann::json::array();
  render::Table table({{"name"}, {"conditions"}, {"description"}});
  for (const auto& [name, description] : experiment::shipped_networks()) {
    const auto profile = experiment::load_network_profile(name);
    documents.push_back(to_document(profile, description));
    table.add_row({name, describe(profile), description});
  }
  fmt::print("{}", as_json ? render::json_text(documents) : table.to_text());
}

void show_one(const std::string& name_or_file, bool as_json) {
  const auto profile = experiment::load_network_profile(name_or_file);
  const auto description = name_or_file == profile.name ? description_of(profile.name) : std::string();
  if (as_json) {
    fmt::print("{}", render::json_text(to_document(profile, description)));
    return;
  }
  fmt::print("{}{}{}\n\nforward   {}\nbackward  {}\n", profile.name, description.empty() ? "" : ": ", description,
             describe(profile.forward), describe(profile.backward));
}

ExitCode run_show(const ShowOptions& options) {
  const bool as_json = options.format == "json";
  if (options.profile.empty()) {
    show_all(as_json);
  } else {
    show_one(options.profile, as_json);
  }
  return ExitCode::success;
}

void add_net_show(CLI::App& net, Command& chosen) {
  auto options = std::make_shared<ShowOptions>();
  auto* command = net.add_subcommand("show", "List the network profiles, or show one in full");
  command->add_option("profile", options->profile, "A profile that ships, or a file")->type_name("PROFILE");
  add_format_option(*command, options->format, {"table", "json"});
  command->callback([options, &chosen] { chosen = [options] { return run_show(*options); }; });
}

}  // namespace

const experiment::LinkConditions& conditions_of(const experiment::NetworkProfile& profile,
                                                const std::string& direction) {
  return direction == "backward" ? profile.backward : profile.forward;
}

void add_net(CLI::App& app, Command& chosen) {
  auto* net = app.add_subcommand("net", "Network profiles: look at them, apply them to real interfaces, measure them");
  net->require_subcommand(1);
  add_net_show(*net, chosen);
  add_net_plan(*net, chosen);
  add_net_probe(*net, chosen);
  add_net_apply(*net, chosen);
  add_net_clear(*net, chosen);
}

}  // namespace paretopipe::cli
