#pragma once
#include <paretopipe/shaping/kernel/capabilities.hpp>

#include <set>
#include <string>

#include <sys/types.h>

namespace paretopipe::support {

/// What shaping could leave behind: networks that this process still holds ("net:[4026531840]"), and interfaces and
/// qdiscs of the machine.
struct MachineState {
  std::set<std::string> held_networks;
  std::string interfaces;
  std::string qdiscs;

  bool operator==(const MachineState&) const = default;
};

MachineState machine_state();

/// The identity of a network namespace, by a descriptor of it.
ino_t network_id(int descriptor);

/// Whether anything on this machine keeps the network alive: a process in it, a descriptor, a mount.
bool is_alive(ino_t network);

/// What this machine can do, tried once a test program.
const shaping::Capabilities& capabilities();

/// False, with a warning that says why, if the ability is missing: the test is then skipped.
bool can(const shaping::Ability& ability);

}  // namespace paretopipe::support
