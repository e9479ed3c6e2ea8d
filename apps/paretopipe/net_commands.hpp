#pragma once
#include <paretopipe/config/network_profile.hpp>
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <string>

#include "command.hpp"

namespace CLI {
class App;
}

// The subcommands of `net`, each added to it by one function.
namespace paretopipe::cli {

void add_net_show(CLI::App& net, Command& chosen);
void add_net_probe(CLI::App& net, Command& chosen);
void add_net_plan(CLI::App& net, Command& chosen);
/// Also `net keep-lease`, which is for `net apply` alone and not shown.
void add_net_apply(CLI::App& net, Command& chosen);
void add_net_clear(CLI::App& net, Command& chosen);

/// As a person types it.
std::string to_line(const shaping::Command& command);

/// What leaves the first host of a profile, or the second.
const config::LinkConditions& conditions_of(const config::NetworkProfile& profile, const std::string& direction);

}  // namespace paretopipe::cli
