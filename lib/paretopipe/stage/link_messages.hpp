#pragma once
#include <paretopipe/wire/key.hpp>

#include <cstdint>
#include <string>
#include <string_view>

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

/// Opens a port at which the previous stage of the ring will knock: the first free one from `first_port` to
/// `last_port`. 0 to 0: whichever the kernel chooses.
struct Listen {
  static constexpr std::string_view kType = "listen";
  std::string address;
  std::uint16_t first_port = 0;
  std::uint16_t last_port = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Listen, address, first_port, last_port)

struct Listening {
  static constexpr std::string_view kType = "listening";
  std::uint16_t port = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Listening, port)

/// Connects to the next stage and accepts the previous one's connection, at the same time. Must be sent to all stages
/// before waiting for any. The only message with a secret in it: the key has no other way to a stage. A device that
/// batches are dealt out to joins the source in the same way, as its only neighbour; both keep these links beside those
/// of the ring.
struct Join {
  static constexpr std::string_view kType = "join";
  std::string next_host;
  std::uint16_t next_port = 0;
  wire::Key key;  ///< known only to this pipeline's stages; strangers at the port are turned away
  int timeout_s = 10;
  int device = 0;          ///< which shares these links with the source; 0: the ring
  std::string incoming{};  ///< the name of the link from the previous stage, which that stage has as `outgoing`
  std::string outgoing{};  ///< the name of the link to the next stage
  bool tls = false;        ///< encrypt both links
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Join, next_host, next_port, key, timeout_s, device, incoming, outgoing, tls)

struct Joined {
  static constexpr std::string_view kType = "joined";
};
inline void to_json(nlohmann::json& json, const Joined&) {
  json = nlohmann::json::object();
}
inline void from_json(const nlohmann::json&, Joined&) {}

/// Measures the way to a stage that listens, over a link of its own (link_probe.hpp). That stage gets AnswerProbe at
/// the same time.
struct ProbeLink {
  static constexpr std::string_view kType = "probe_link";
  std::string host;
  std::uint16_t port = 0;
  wire::Key key;      ///< known only to the two
  int timeout_s = 5;  ///< until the connection is made
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProbeLink, host, port, key, timeout_s)

struct LinkProbed {
  static constexpr std::string_view kType = "link_probed";
  std::int64_t round_trip_ns = 0;  ///< median of small messages, with nothing else under way
  std::int64_t bytes = 0;          ///< of the longest transfer towards the listening stage
  std::int64_t took_ns = 0;        ///< until its receipt came back, less the round trip; at least 1

  bool operator==(const LinkProbed&) const = default;
  double bit_per_s() const { return static_cast<double>(bytes) * 8e9 / static_cast<double>(took_ns); }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LinkProbed, round_trip_ns, bytes, took_ns)

/// Waits for a ProbeLink at the port that the last Listen opened, and answers it. The port closes, however this ends.
struct AnswerProbe {
  static constexpr std::string_view kType = "answer_probe";
  wire::Key key;
  int timeout_s = 5;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AnswerProbe, key, timeout_s)

struct ProbeAnswered {
  static constexpr std::string_view kType = "probe_answered";
};
inline void to_json(nlohmann::json& json, const ProbeAnswered&) {
  json = nlohmann::json::object();
}
inline void from_json(const nlohmann::json&, ProbeAnswered&) {}

}  // namespace paretopipe::stage
