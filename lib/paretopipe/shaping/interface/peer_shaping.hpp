#pragma once
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paretopipe::shaping {

/// The largest IP packet, in bytes, that an interface of this process's network takes; nothing if there is no such
/// interface. Throws EnvironmentError if the kernel cannot be asked.
std::optional<std::int64_t> interface_mtu(const std::string& interface);

// A profile on an interface of a real device, only for the traffic to one peer. Pure: nothing here runs a command.

/// The traffic to shape: all that leaves `interface` for `peer`, or only TCP from or to `ports`, whichever side serves.
struct PeerTarget {
  std::string interface;
  std::string peer;                    ///< a numeric IPv4 or IPv6 address
  std::vector<std::uint16_t> ports{};  ///< of TCP
  std::int64_t mtu = 1500;             ///< of the interface (interface_mtu): larger packets would be dropped
};

/// For people: "eth0 to 192.168.1.7 port 5000".
std::string describe(const PeerTarget& target);

/// The interface over which this host's packets for `peer`, a numeric address, leave. Throws EnvironmentError if there
/// is no way there, or if the peer is this host itself.
std::string interface_towards(const std::string& peer);

/// Throws UsageError for a name that no interface can have.
void check_interface_name(const std::string& interface);

struct PeerPlan {
  std::vector<Command> apply;  ///< in this order
  Command undo;                ///< removes all of it; fails if the root qdisc is somebody else's

  bool operator==(const PeerPlan&) const = default;
};

/// The handle of a plan's root qdisc, by which it is recognised as ours.
constexpr std::uint16_t kPeerHandle = 0x7a7a;

/// Plans an htb root with a single class, the qdiscs of shape_commands below it, and filters that lead the peer's
/// traffic there. Other traffic (SSH, for instance) passes directly: htb's `default 0`. TCP hands an interface up to 64
/// KiB at a time (segmentation offload), which netem would delay, lose and pace as one packet; a tbf above it cuts that
/// into frames and limits nothing. So the interface's own offload, which other traffic shares, stays unchanged. Throws
/// UsageError for a peer that is not a numeric address, and for conditions that shape nothing.
PeerPlan plan_peer_shaping(const PeerTarget& target, const experiment::LinkConditions& conditions);

/// Removes a plan's root qdisc and no other: the kernel compares the handle.
Command undo_command(const std::string& interface);

/// The owner of an interface's root qdisc. The kernel gives handle 0 to those that it creates by itself, and to no
/// others.
enum class RootOwner { kernel, paretopipe, somebody };
struct RootQdisc {
  RootOwner owner = RootOwner::kernel;
  std::string name;  ///< "htb 1:"; empty if there is none

  bool operator==(const RootQdisc&) const = default;
};

/// Reads the output of `tc -j qdisc show dev X`. Throws EnvironmentError for anything but such JSON.
RootQdisc root_qdisc(const std::string& tc_json);

/// The conditions of a plan's qdiscs, from the same JSON. Throws EnvironmentError if they are not there.
experiment::LinkConditions read_back_peer(const std::string& tc_json);

/// Runs ip or tc in the network of this process (a NamespaceRing has its own) and returns the output. Throws
/// EnvironmentError with the command, its message, and the remedy: the missing privilege or module.
std::string run_tc(const Command& command);

}  // namespace paretopipe::shaping
