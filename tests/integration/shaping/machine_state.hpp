#pragma once
#include <paretopipe/shaping/kernel/capabilities.hpp>
#include <paretopipe/shaping/kernel/namespace_ring.hpp>

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

/// True if anything on this machine keeps the network alive: a process in it, a descriptor, a mount.
bool is_alive(ino_t network);

/// What this machine can do, tried once a test program.
const shaping::Capabilities& capabilities();

/// Skips the test case if the ability is missing.
void need(const shaping::Ability& ability);

/// Networks of so many stages, or the test case is skipped if the ability is missing.
shaping::NamespaceRing ring_where(const shaping::Ability& ability, std::size_t stages = 2);

/// Skips a test of what is said on a kernel without netem on every other one.
void need_no_netem();

}  // namespace paretopipe::support
