#pragma once
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <string>

#include "commands.hpp"

namespace CLI {
class App;
}

// Functions that each add one subcommand to `net`.
namespace paretopipe::cli {

void add_net_show(CLI::App& net, Command& chosen);
void add_net_probe(CLI::App& net, Command& chosen);
void add_net_plan(CLI::App& net, Command& chosen);
/// Also adds `net keep-lease`, which only `net apply` uses and which is hidden.
void add_net_apply(CLI::App& net, Command& chosen);
void add_net_clear(CLI::App& net, Command& chosen);

/// The command as a person types it.
std::string to_line(const shaping::Command& command);

/// The conditions of what leaves the first host of a profile, or the second.
const experiment::LinkConditions& conditions_of(const experiment::NetworkProfile& profile,
                                                const std::string& direction);

}  // namespace paretopipe::cli
