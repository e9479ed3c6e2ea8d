#pragma once
#include <paretopipe/config/network_profile.hpp>
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// A profile on an interface of a real device, for the traffic to one peer alone. Pure: nothing here runs a command.
namespace paretopipe::shaping {

/// What is to be shaped: all that leaves `interface` for `peer`, or only TCP from or to `port`, whichever side serves.
struct PeerTarget {
  std::string interface;
  std::string peer;                   ///< a numeric IPv4 or IPv6 address
  std::optional<std::uint16_t> port;  ///< of TCP
  std::int64_t mtu = 1500;            ///< of the interface (interface_mtu.hpp): larger packets would be dropped
};

/// For people: "eth0 to 192.168.1.7 port 5000".
std::string describe(const PeerTarget& target);

/// Throws UsageError for a name that no interface can have.
void check_interface_name(const std::string& interface);

struct PeerPlan {
  std::vector<Command> apply;  ///< in this order
  Command undo;                ///< removes all of it, and fails if the root qdisc is anybody else's

  bool operator==(const PeerPlan&) const = default;
};

/// The root qdisc of a plan has this handle, by which it is recognised as ours.
constexpr std::uint16_t kPeerHandle = 0x7a7a;

/// An htb root with a single class, below which are the qdiscs of shape_commands, and filters that lead the peer's
/// traffic there. What no filter knows (SSH, for instance) passes directly: htb's `default 0`. TCP hands an interface
/// up to 64 KiB at a time (segmentation offload), which netem would delay, lose and pace as one packet; a tbf above it
/// cuts that into frames, and limits nothing. So the interface's own offload, which is other traffic's too, stays as it
/// is. Throws UsageError for a peer that is not a numeric address, and for conditions that shape nothing.
PeerPlan plan_peer_shaping(const PeerTarget& target, const config::LinkConditions& conditions);

/// Removes the root qdisc of a plan, and no other: the kernel compares the handle.
Command undo_command(const std::string& interface);

/// Who made an interface's root qdisc. The kernel gives handle 0: to those that it puts there by itself, and never to
/// another.
enum class RootOwner { kernel, paretopipe, somebody };
struct RootQdisc {
  RootOwner owner = RootOwner::kernel;
  std::string name;  ///< "htb 1:"; empty if there is none

  bool operator==(const RootQdisc&) const = default;
};

/// Of what `tc -j qdisc show dev X` prints. Throws EnvironmentError for what is not such JSON.
RootQdisc root_qdisc(const std::string& tc_json);

/// What a plan's qdiscs do, by the same JSON. Throws EnvironmentError if they are not there.
config::LinkConditions read_back_peer(const std::string& tc_json);

}  // namespace paretopipe::shaping
