#pragma once
#include <paretopipe/experiment/network_profile.hpp>

#include <string>

#include "commands.hpp"

// Functions that each add one subcommand to `net`.
namespace paretopipe::cli {

void add_net_probe(CLI::App& net, Command& chosen);
/// Also adds `net keep-lease`, which only `net apply` uses and which is hidden.
void add_net_apply(CLI::App& net, Command& chosen);
void add_net_clear(CLI::App& net, Command& chosen);

/// The conditions of what leaves the profile's first host ("forward") or its second one ("backward").
const experiment::LinkConditions& conditions_of(const experiment::NetworkProfile& profile,
                                                const std::string& direction);

}  // namespace paretopipe::cli
