#pragma once
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/shaping/emulated/schedule.hpp>
#include <paretopipe/stage/envelope.hpp>
#include <paretopipe/wire/key.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::wire {

inline void to_json(nlohmann::json& json, const Key& key) {
  json = to_hex(key);
}
inline void from_json(const nlohmann::json& json, Key& key) {
  key = key_from_hex(json.get_ref<const std::string&>());
}

}  // namespace paretopipe::wire

/// The control messages about the links between stages: how these are made, and what they can do.
namespace paretopipe::stage {

/// Opens a port for the connection of the previous stage of the ring: the first free one from `first_port` to
/// `last_port`. 0 to 0: whichever the kernel chooses.
struct Listen {
  static constexpr std::string_view kType = "listen";
  std::string address;
  std::uint16_t first_port = 0;
  std::uint16_t last_port = 0;
};
PARETOPIPE_JSON(Listen, address, first_port, last_port)

struct Listening {
  static constexpr std::string_view kType = "listening";
  std::uint16_t port = 0;
};
PARETOPIPE_JSON(Listening, port)

/// Stands for a device's index: the ring in which gradients travel, from each stage to the previous one.
inline constexpr int kBackwardRing = -1;

/// Connects to the next stage and accepts the previous one's connection, at the same time. Must be sent to all stages
/// before waiting for any. The only message with a secret in it: the key has no other way to a stage. If batches are
/// dealt out, each device joins the source in the same way, as its only neighbour. Both keep these links beside those
/// of the ring.
struct Join {
  static constexpr std::string_view kType = "join";
  std::string next_host;
  std::uint16_t next_port = 0;
  wire::Key key;  ///< known only to this pipeline's stages; strangers at the port are turned away
  int timeout_s = 10;
  int device = 0;          ///< the device that shares these links with the source; 0: the ring, or kBackwardRing
  std::string incoming{};  ///< the name of the link from the previous stage, which that stage has as `outgoing`
  std::string outgoing{};  ///< the name of the link to the next stage
  bool tls = false;        ///< encrypt both links
};
PARETOPIPE_JSON(Join, next_host, next_port, key, timeout_s, device, incoming, outgoing, tls)

struct Joined : NoFields {
  static constexpr std::string_view kType = "joined";
};

/// How much a probe of a link measures. Both sides get the same. The defaults suit a link about which nothing is known.
struct ProbeExtent {
  int round_trips = 31;
  std::int64_t most_bytes = std::int64_t{8} << 20;  ///< of a transfer
  int patience_s = 10;                              ///< without any message; enough for the first transfer at 60 kbit/s

  bool operator==(const ProbeExtent&) const = default;
};
PARETOPIPE_JSON(ProbeExtent, round_trips, most_bytes, patience_s)

/// Measures the way to a stage that listens, over a link of its own (link_probe.hpp). That stage gets AnswerProbe at
/// the same time.
struct ProbeLink {
  static constexpr std::string_view kType = "probe_link";
  std::string host;
  std::uint16_t port = 0;
  wire::Key key;      ///< known only to the two
  int timeout_s = 5;  ///< until the connection is made
  ProbeExtent extent{};
};
PARETOPIPE_JSON(ProbeLink, host, port, key, timeout_s, extent)

struct LinkProbed {
  static constexpr std::string_view kType = "link_probed";
  std::int64_t round_trip_ns = 0;      ///< median of small messages, with nothing else under way
  std::int64_t round_trip_min_ns = 0;  ///< the smallest of them
  std::int64_t bytes = 0;              ///< of the longest transfer towards the listening stage
  std::int64_t took_ns = 0;            ///< until its receipt came back, less the round trip; at least 1

  bool operator==(const LinkProbed&) const = default;
  double bit_per_s() const { return static_cast<double>(bytes) * 8e9 / static_cast<double>(took_ns); }
};
PARETOPIPE_JSON(LinkProbed, round_trip_ns, round_trip_min_ns, bytes, took_ns)

/// Waits for a ProbeLink at the port that the last Listen opened, and answers it. The port closes, however this ends.
struct AnswerProbe {
  static constexpr std::string_view kType = "answer_probe";
  wire::Key key;
  int timeout_s = 5;
  ProbeExtent extent{};
};
PARETOPIPE_JSON(AnswerProbe, key, timeout_s, extent)

struct ProbeAnswered : NoFields {
  static constexpr std::string_view kType = "probe_answered";
};

/// Asks for a relay on this stage's machine towards stage `to`, which listens at `host` and `port`: the next connection
/// to the relay leads there. The first of these requests starts the process of the relays (relays.hpp). A relay shapes
/// nothing until ShapeRelay.
struct OpenRelay {
  static constexpr std::string_view kType = "open_relay";
  int to = 0;
  std::string host;
  std::uint16_t port = 0;
};
PARETOPIPE_JSON(OpenRelay, to, host, port)

/// Where the relay listens; nobody but this machine's processes can reach it.
struct RelayOpened {
  static constexpr std::string_view kType = "relay_opened";
  std::string host;
  std::uint16_t port = 0;
};
PARETOPIPE_JSON(RelayOpened, host, port)

/// Sets what the relay towards stage `to` does to everything that it reads from now on. `forward` is for the direction
/// towards that stage.
struct ShapeRelay {
  static constexpr std::string_view kType = "shape_relay";
  int to = 0;
  experiment::LinkConditions forward;
  experiment::LinkConditions backward;
  std::uint64_t seed = 0;  ///< of the jitter
};
PARETOPIPE_JSON(ShapeRelay, to, forward, backward, seed)

struct RelayShaped : NoFields {
  static constexpr std::string_view kType = "relay_shaped";
};

/// Restarts the count of every relay's lateness.
struct WatchRelays {
  static constexpr std::string_view kType = "watch_relays";
  std::int64_t tolerance_ns = 0;  ///< more than this is late
};
PARETOPIPE_JSON(WatchRelays, tolerance_ns)

struct RelaysWatched : NoFields {
  static constexpr std::string_view kType = "relays_watched";
};

/// Asks how late the relays were since WatchRelays.
struct ReadRelays : NoFields {
  static constexpr std::string_view kType = "read_relays";
};

/// Asks for a lease on the interface towards the machine `host`, in place of the one that this stage has. The
/// conditions are for what leaves over the interface to that machine, if it goes to one of `ports` or comes from one
/// (interface_lease.hpp). Conditions that shape nothing end the lease.
struct LeaseInterface {
  static constexpr std::string_view kType = "lease_interface";
  std::string host;
  std::vector<std::uint16_t> ports;
  experiment::LinkConditions conditions;
};
PARETOPIPE_JSON(LeaseInterface, host, ports, conditions)

/// Asks what the kernel does now to shape the interface.
struct ReadLease : NoFields {
  static constexpr std::string_view kType = "read_lease";
};

/// The answer to LeaseInterface and ReadLease.
struct InterfaceLeased {
  static constexpr std::string_view kType = "interface_leased";
  std::string interface;                 ///< empty without a lease
  experiment::LinkConditions read_back;  ///< according to the kernel

  bool operator==(const InterfaceLeased&) const = default;
};
PARETOPIPE_JSON(InterfaceLeased, interface, read_back)

struct RelayReading {
  int to = 0;
  shaping::LatenessMeter lateness{Nanoseconds(0)};
};
PARETOPIPE_JSON(RelayReading, to, lateness)

struct RelaysRead {
  static constexpr std::string_view kType = "relays_read";
  std::vector<RelayReading> relays;
  std::string problem;  ///< the last one with a connection, as a sentence; empty if there was none
};
PARETOPIPE_JSON(RelaysRead, relays, problem)

}  // namespace paretopipe::stage
