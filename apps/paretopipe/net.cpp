#include "net.hpp"

#include <paretopipe/config/network_profile.hpp>
#include <paretopipe/report/table.hpp>

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "net_commands.hpp"

namespace paretopipe::cli {
namespace {

struct ShowOptions {
  std::string profile;
  std::string format = "table";
};

std::string description_of(const std::string& name) {
  for (const auto& network : config::shipped_networks()) {
    if (network.name == name) return network.description;
  }
  return {};
}

nlohmann::json to_document(const config::NetworkProfile& profile, const std::string& description) {
  nlohmann::json document(profile);
  if (!description.empty()) document["description"] = description;
  return document;
}

void show_all(bool as_json) {
  auto documents = nlohmann::json::array();
  report::Table table(
      {{"name", report::Align::left}, {"conditions", report::Align::left}, {"description", report::Align::left}});
  for (const auto& [name, description] : config::shipped_networks()) {
    const auto profile = config::load_network_profile(name);
    documents.push_back(to_document(profile, description));
    table.add_row({name, describe(profile), description});
  }
  fmt::print("{}", as_json ? documents.dump(2) + "\n" : table.to_text());
}

void show_one(const std::string& name_or_file, bool as_json) {
  const auto profile = config::load_network_profile(name_or_file);
  const auto description = name_or_file == profile.name ? description_of(profile.name) : std::string();
  if (as_json) {
    fmt::print("{}\n", to_document(profile, description).dump(2));
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

}  // namespace

std::string to_line(const shaping::Command& command) {
  return fmt::format("{}", fmt::join(command, " "));
}

const config::LinkConditions& conditions_of(const config::NetworkProfile& profile, const std::string& direction) {
  return direction == "backward" ? profile.backward : profile.forward;
}

void add_net_show(CLI::App& net, Command& chosen) {
  auto options = std::make_shared<ShowOptions>();
  auto* command = net.add_subcommand("show", "List the network profiles, or show one in full");
  command->add_option("profile", options->profile, "A profile that ships, or a file")->type_name("PROFILE");
  command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->callback([options, &chosen] { chosen = [options] { return run_show(*options); }; });
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
