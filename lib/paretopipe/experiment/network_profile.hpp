#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/json_fields.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::experiment {

/// How delays scatter around their mean: by the tables of tc-netem(8), or uniformly, as the kernel does without a
/// table.
enum class DelayDistribution { uniform, normal, pareto, paretonormal };
NLOHMANN_JSON_SERIALIZE_ENUM(DelayDistribution, {{DelayDistribution::uniform, "uniform"},
                                                 {DelayDistribution::normal, "normal"},
                                                 {DelayDistribution::pareto, "pareto"},
                                                 {DelayDistribution::paretonormal, "paretonormal"}})

/// What one direction of a link does to packets, in the terms of tc-netem(8) and tc-tbf(8). The default shapes nothing.
struct LinkConditions {
  Nanoseconds delay{0};   ///< one way, added to the link's own
  Nanoseconds jitter{0};  ///< scatter of the delay; needs a delay
  DelayDistribution distribution = DelayDistribution::uniform;
  std::optional<std::int64_t> rate_bit_per_s;
  std::optional<std::int64_t> burst_bytes;  ///< of the token bucket; needs a rate; default: one that fits the rate
  double loss = 0;                          ///< probabilities, 0 … 1
  double reorder = 0;                       ///< needs a delay, which reordered packets skip
  double duplicate = 0;
  std::optional<std::int64_t> queue_packets;  ///< netem's limit; default: one that fits delay and rate
  std::optional<Nanoseconds> queue_latency;   ///< the longest wait in tbf's queue; needs a rate

  bool operator==(const LinkConditions&) const = default;

  bool shaped() const { return *this != LinkConditions{}; }
};

/// Every field that is not the default, for people: "20 ms +- 2 ms normal, 5 Mbit/s, loss 1 %"; "unshaped" if all are.
std::string describe(const LinkConditions& conditions);

/// A network between two consecutive stages. `forward` leads from the first stage to the second, `backward` from the
/// second to the first.
struct NetworkProfile {
  std::string name = "unshaped";
  LinkConditions forward;
  LinkConditions backward;

  bool operator==(const NetworkProfile&) const = default;

  bool shaped() const { return forward.shaped() || backward.shaped(); }
};
PARETOPIPE_JSON(NetworkProfile, name, forward, backward)

/// Describes both directions, or only one if they are the same.
std::string describe(const NetworkProfile& profile);

/// How a profile is applied to the links. `none`: nothing shapes. `netem`: the kernel shapes virtual links between
/// network namespaces. `emulated`: a relay in userspace delays and paces the bytes.
enum class Shaping { none, netem, emulated };

std::string to_string(Shaping shaping);

/// "auto" gives none, which means whichever this machine supports. Throws UsageError for unknown words.
std::optional<Shaping> parse_shaping(const std::string& text);

/// What protects the bytes on the links between stages. A link's ends prove who they are in any case (wire/README.md).
enum class Encryption { none, tls };

/// "plain" or "tls".
std::string to_string(Encryption encryption);

/// Inverse of to_string(). Throws UsageError that begins with "link".
Encryption parse_encryption(const std::string& text);

void to_json(nlohmann::json& json, Encryption encryption);
/// Throws UsageError as parse_encryption does.
void from_json(const nlohmann::json& json, Encryption& encryption);

/// How late an emulated link delivered during a trial, relative to the times that its conditions prescribe, because the
/// machine did not run the relay in time.
struct Lateness {
  std::int64_t tolerance_ns = 0;  ///< more than this is late
  std::int64_t deliveries = 0;    ///< pieces of the streams that passed, at least 1; a piece is 1.5 to 64 kB
  std::int64_t late = 0;          ///< how many of them were late
  std::int64_t mean_ns = 0;       ///< over all deliveries
  std::int64_t p99_ns = 0;        ///< overestimated by at most 6 %
  std::int64_t max_ns = 0;

  bool operator==(const Lateness&) const = default;
};
PARETOPIPE_JSON(Lateness, tolerance_ns, deliveries, late, mean_ns, p99_ns, max_ns)

/// A probe's measurement between two stages: one way over the link from `from` to `to`, and back over the link from
/// `back_from` to `back_to`. The latter is the results' link if they have a link of their own.
struct LinkProbe {
  int from = 0;
  int to = 0;
  int back_from = 0;
  int back_to = 0;
  std::int64_t took_ns = 0;          ///< for the round trips, then a transfer forth, then one back
  std::int64_t before_trial_ns = 0;  ///< from the probe's end to the trial's first batch
  std::int64_t round_trip_ns = 0;    ///< median of small messages forth and back
  double forward_bit_per_s = 0;      ///< goodput of a long transfer
  double backward_bit_per_s = 0;

  bool operator==(const LinkProbe&) const = default;
};
PARETOPIPE_JSON(LinkProbe, from, to, back_from, back_to, took_ns, before_trial_ns, round_trip_ns, forward_bit_per_s,
                backward_bit_per_s)

/// How the link from one stage to another, on different devices, got its profile.
struct EmulatedLinkSite {
  int from = 0;
  int to = 0;
  std::string emulated_on;             ///< the device whose clock timed it: that of the sending stage
  std::int64_t own_round_trip_ns = 0;  ///< of the real network below it, measured without the profile
  std::string interface {};            ///< of that device, where its kernel shaped it; empty where a relay did
  std::optional<Lateness> lateness{};  ///< of this link, if it carried something during the trial

  bool operator==(const EmulatedLinkSite&) const = default;
};
PARETOPIPE_JSON_UNLESS_USUAL(EmulatedLinkSite, (from, to, emulated_on, own_round_trip_ns, lateness), (interface))

/// What a network really did to a pipeline's links: the settings as the kernel reports them, and the measurements of a
/// probe over these links. Absent numbers were not measured.
struct NetworkEvidence {
  NetworkProfile read_back;
  std::optional<std::int64_t> round_trip_ns;  ///< this and the next two are the first probe's
  std::optional<double> forward_bit_per_s;
  std::optional<double> backward_bit_per_s;
  std::vector<LinkProbe> probes{};        ///< together they cover every direction of every link that tensors cross
  std::vector<EmulatedLinkSite> links{};  ///< those between devices (--on); empty if this machine has all stages
  std::optional<Lateness> lateness;       ///< of an emulated link that carried something during the trial
  std::vector<std::string> deviations;    ///< sentences; if any, nothing was measured under these conditions

  bool operator==(const NetworkEvidence&) const = default;
};
PARETOPIPE_JSON_UNLESS_USUAL(NetworkEvidence,
                             (read_back, deviations, round_trip_ns, forward_bit_per_s, backward_bit_per_s, lateness),
                             (probes, links))

/// For records: plain numbers with the unit in the key (delay_ns, rate_bit_per_s). What is not shaped is left out.
void to_json(nlohmann::json& json, const LinkConditions& conditions);
void from_json(const nlohmann::json& json, LinkConditions& conditions);
void to_json(nlohmann::json& json, const Shaping& shaping);
void from_json(const nlohmann::json& json, Shaping& shaping);

/// Reads a user's profile: {"description": …, "both": {…}} or {"forward": {…}, "backward": {…}}. Values carry their
/// units, as in "delay": "20 ms", "rate": "5 Mbit/s", "burst": "32 kbit", "loss": "1 %" (configs/networks/README.md).
/// Unknown keys, missing units and nonsense (a loss of 2, jitter without a delay) throw UsageError with the key's path.
NetworkProfile network_profile_from_json(const nlohmann::json& json, const std::string& name);

/// `name_or_file` is a profile that ships ("wifi"), or the path of a file (one that has a slash or ends in .json). A
/// file's profile is named after the file. Throws UsageError, which lists the known names for an unknown one.
NetworkProfile load_network_profile(const std::string& name_or_file);

/// A profile that ships.
struct ShippedNetwork {
  std::string name;
  std::string description;
};
std::vector<ShippedNetwork> shipped_networks();

}  // namespace paretopipe::experiment
