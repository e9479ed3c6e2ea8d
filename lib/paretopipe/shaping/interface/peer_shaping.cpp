#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/shaping/interface/peer_shaping.hpp>
#include <paretopipe/shaping/kernel/shaped_link.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <net/if.h>

namespace paretopipe::shaping {

std::optional<std::int64_t> interface_mtu(const std::string& interface) {
  const auto attempt = [&] { return fmt::format("ask for the MTU of the interface {}", interface); };
  if (interface.size() >= IFNAMSIZ) return std::nullopt;
  // Not /sys/class/net, which shows the network namespace in which it was mounted.
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) throw system_error(attempt(), errno);
  ifreq request{};
  std::copy(interface.begin(), interface.end(), request.ifr_name);
  if (::ioctl(socket.get(), SIOCGIFMTU, &request) == 0) return request.ifr_mtu;
  if (errno == ENODEV) return std::nullopt;
  throw system_error(attempt(), errno);
}

namespace {

using nlohmann::json;

constexpr std::size_t kLongestInterfaceName = 15;  // IFNAMSIZ, less the zero at its end

std::string handle(int offset = 0) {
  return fmt::format("{:x}:", kPeerHandle + offset);
}

std::string class_id() {
  return handle() + "1";
}

enum class Family { v4, v6 };

struct Peer {
  Family family;
  std::string address;  ///< as the kernel writes it
};

Peer parse_peer(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  std::array<char, INET6_ADDRSTRLEN> written{};
  for (const auto& [family, number] : {std::pair(Family::v4, AF_INET), std::pair(Family::v6, AF_INET6)}) {
    if (::inet_pton(number, text.c_str(), bytes.data()) != 1) continue;
    return {family, ::inet_ntop(number, bytes.data(), written.data(), written.size())};
  }
  throw UsageError(fmt::format(
      "the peer \"{}\" is not an IP address; write it like 192.168.1.7 or fe80::1 (getent ahosts NAME looks one up)",
      text));
}

/// One class that never waits by itself: it is faster than any interface, with a burst that is no limit at that rate.
/// The quantum has no effect without a second class, but keeps the kernel from warning about the rate.
std::vector<Command> frame_commands(const std::string& interface) {
  return {{"tc", "qdisc", "add", "dev", interface, "root", "handle", handle(), "htb", "default", "0", "direct_qlen",
           "1000"},
          {"tc", "class", "add", "dev", interface, "parent", handle(), "classid", class_id(), "htb", "rate", "100gbit",
           "burst", "1000000b", "cburst", "1000000b", "quantum", "60000"}};
}

/// A tbf cuts packets larger than its bucket into frames before it passes them down. This one's rate exceeds that of
/// any interface. Its bucket holds one full frame but not two, in the kernel's steps at that rate (64 ns). Packets wait
/// below it, so its own limit, which tc requires, has no effect.
Command cut_command(const PeerTarget& target) {
  constexpr std::int64_t kStepBytes = 800;
  const auto steps = (target.mtu * 3 / 2 + kStepBytes - 1) / kStepBytes;
  return {"tc",     "qdisc",   "add", "dev",  target.interface, "parent", class_id(),
          "handle", handle(3), "tbf", "rate", "100gbit",        "burst",  fmt::format("{}b", steps * kStepBytes),
          "limit",  "1000000b"};
}

/// `port_field`: "dport", "sport", or empty for all traffic.
Command filter_command(const PeerTarget& target, const Peer& peer, std::string_view port_field,
                       std::uint16_t port = 0) {
  const bool v4 = peer.family == Family::v4;
  const std::string ip = v4 ? "ip" : "ip6";
  Command command{"tc", "filter", "add", "dev", target.interface, "parent", handle()};
  const auto append = [&](std::initializer_list<std::string> words) { command.insert(command.end(), words); };
  append({"protocol", v4 ? "ip" : "ipv6", "prio", "1", "u32"});
  append({"match", ip, "dst", peer.address + (v4 ? "/32" : "/128")});
  if (!port_field.empty()) {
    append({"match", ip, "protocol", "6", "0xff"});
    append({"match", ip, std::string(port_field), std::to_string(port), "0xffff"});
  }
  append({"flowid", class_id()});
  return command;
}

std::vector<Command> filter_commands(const PeerTarget& target) {
  const auto peer = parse_peer(target.peer);
  if (target.ports.empty()) return {filter_command(target, peer, "")};
  std::vector<Command> commands;
  for (const auto port : target.ports) {
    commands.push_back(filter_command(target, peer, "dport", port));
    commands.push_back(filter_command(target, peer, "sport", port));
  }
  return commands;
}

json parse_qdiscs(const std::string& tc_json) {
  try {
    return json::parse(tc_json);
  } catch (const json::exception& error) {
    throw EnvironmentError(fmt::format("read which qdiscs there are: {}; tc printed: {}", error.what(), tc_json));
  }
}

RootQdisc owner_of(const json& qdisc) {
  const auto kind = qdisc.at("kind").get<std::string>();
  const auto its_handle = qdisc.at("handle").get<std::string>();
  const auto name = fmt::format("{} {}", kind, its_handle);
  if (its_handle == "0:") return {RootOwner::kernel, name};
  return {kind == "htb" && its_handle == handle() ? RootOwner::paretopipe : RootOwner::somebody, name};
}

}  // namespace

std::string interface_towards(const std::string& peer) {
  const auto printed = run_tc({"ip", "-j", "route", "get", peer});
  std::string interface;
  try {
    interface = json::parse(printed).at(0).at("dev").get<std::string>();
  } catch (const json::exception& error) {
    throw EnvironmentError(fmt::format("find the way to {}: {}; ip printed: {}", peer, error.what(), printed));
  }
  if (interface == "lo") throw EnvironmentError(fmt::format("{} is this host itself: no interface leads there", peer));
  return interface;
}

std::string describe(const PeerTarget& target) {
  const auto* ports = target.ports.empty() ? "" : target.ports.size() == 1 ? " port " : " ports ";
  return fmt::format("{} to {}{}{}", target.interface, target.peer, ports, fmt::join(target.ports, ", "));
}

void check_interface_name(const std::string& interface) {
  const auto odd = [](unsigned char c) { return c <= ' ' || c == '/' || c == ':' || c == 0x7f; };
  if (interface.empty() || interface.size() > kLongestInterfaceName || interface.front() == '-' || interface == "." ||
      interface == ".." || std::any_of(interface.begin(), interface.end(), odd)) {
    throw UsageError(fmt::format("\"{}\" cannot be an interface's name; `ip link` lists those there are", interface));
  }
}

PeerPlan plan_peer_shaping(const PeerTarget& target, const experiment::LinkConditions& conditions) {
  check_interface_name(target.interface);
  const auto filters = filter_commands(target);
  const bool cut = needs_netem(conditions);
  const Place place{{"parent", cut ? handle(3) + "1" : class_id()}, kPeerHandle + 1};
  const auto shapers = shape_commands(target.interface, conditions, place);
  if (shapers.empty()) throw UsageError("the profile shapes nothing in this direction, so there is nothing to apply");
  PeerPlan plan{frame_commands(target.interface), undo_command(target.interface)};
  if (cut) plan.apply.push_back(cut_command(target));
  plan.apply.insert(plan.apply.end(), shapers.begin(), shapers.end());
  // Last, so that no packet enters before everything is there.
  plan.apply.insert(plan.apply.end(), filters.begin(), filters.end());
  return plan;
}

Command undo_command(const std::string& interface) {
  return {"tc", "qdisc", "del", "dev", interface, "root", "handle", handle()};
}

RootQdisc root_qdisc(const std::string& tc_json) {
  const auto qdiscs = parse_qdiscs(tc_json);
  try {
    for (const auto& qdisc : qdiscs) {
      if (qdisc.value("root", false)) return owner_of(qdisc);
    }
  } catch (const json::exception& error) {
    throw EnvironmentError(fmt::format("read which root qdisc there is: {}; tc printed: {}", error.what(), tc_json));
  }
  return {};
}

experiment::LinkConditions read_back_peer(const std::string& tc_json) {
  if (root_qdisc(tc_json).owner != RootOwner::paretopipe) {
    throw EnvironmentError("read back what is applied: the root qdisc that was added is not there any more");
  }
  auto shapers = json::array();
  for (const auto& qdisc : parse_qdiscs(tc_json)) {
    const auto its_handle = qdisc.value("handle", "");
    if (its_handle == handle(1) || its_handle == handle(2)) shapers.push_back(qdisc);
  }
  return read_back(shapers.dump());
}

namespace {

constexpr int kTimeoutMs = 10'000;

bool says(const std::string& output, std::string_view words) {
  return output.find(words) != std::string::npos;
}

/// The kernel module that is missing, by the word of the command that names it.
std::string module_of(const Command& command) {
  for (const auto& [word, name] : {std::pair("netem", "sch_netem"), std::pair("tbf", "sch_tbf"),
                                   std::pair("htb", "sch_htb"), std::pair("u32", "cls_u32")}) {
    if (std::find(command.begin(), command.end(), word) != command.end()) return name;
  }
  return {};
}

std::string advice(const Command& command, const std::string& output) {
  if (says(output, "Operation not permitted") || says(output, "Permission denied")) {
    return "; run it as root (sudo), or with the capability NET_ADMIN";
  }
  if (says(output, "Cannot find device")) return "; `ip link` lists the interfaces there are";
  const bool unknown = says(output, "Specified qdisc") || says(output, "Unknown qdisc") ||
                       says(output, "TC classifier not found") || says(output, "Specified filter");
  if (const auto module = module_of(command); unknown && !module.empty()) {
    return fmt::format("; this kernel lacks it: load its module (sudo modprobe {}), or use a kernel that has it",
                       module);
  }
  return {};
}

}  // namespace

std::string run_tc(const Command& command) {
  launch::ChildCommand child;
  child.argv = command;
  child.argv.front() = launch::find_program(command.front(), "iproute2").string();
  auto result = launch::run_command(child, kTimeoutMs);
  if (!result.succeeded) {
    while (result.output.ends_with('\n')) result.output.pop_back();
    throw EnvironmentError(fmt::format("run \"{}\": it {}: {}{}", fmt::join(command, " "), result.how_it_ended,
                                       result.output, advice(command, result.output)));
  }
  return result.output;
}

}  // namespace paretopipe::shaping
