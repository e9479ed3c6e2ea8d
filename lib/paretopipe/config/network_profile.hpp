#pragma once
#include <paretopipe/core/clock.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::config {

/// How delays scatter around their mean: the tables of tc-netem(8), without a table the kernel's uniform distribution.
enum class DelayDistribution { uniform, normal, pareto, paretonormal };

/// What one direction of a link does to packets, in the terms of tc-netem(8) and tc-tbf(8). The default is a link that
/// nothing shapes.
struct LinkConditions {
  Nanoseconds delay{0};   ///< one way, added to the link's own
  Nanoseconds jitter{0};  ///< scatter of the delay; needs a delay
  DelayDistribution distribution = DelayDistribution::uniform;
  std::optional<std::int64_t> rate_bit_per_s;
  std::optional<std::int64_t> burst_bytes;  ///< of the token bucket; needs a rate; without it, one that fits the rate
  double loss = 0;                          ///< probabilities, 0 … 1
  double reorder = 0;                       ///< needs a delay: a reordered packet is one that skips it
  double duplicate = 0;
  std::optional<std::int64_t> queue_packets;  ///< netem's limit; without it, one that fits delay and rate
  std::optional<Nanoseconds> queue_latency;   ///< tbf's: the longest wait in its queue; needs a rate

  bool operator==(const LinkConditions&) const = default;

  bool shaped() const { return *this != LinkConditions{}; }
};

/// For people, every field that is not the default: "20 ms +- 2 ms normal, 5 Mbit/s, loss 1 %"; "unshaped" for none.
std::string describe(const LinkConditions& conditions);

/// A network between two stages that follow one another. `forward` leads from the first stage to the second, `backward`
/// from the second to the first.
struct NetworkProfile {
  std::string name = "unshaped";
  LinkConditions forward;
  LinkConditions backward;

  bool operator==(const NetworkProfile&) const = default;

  bool shaped() const { return forward.shaped() || backward.shaped(); }
};

/// Both directions: once where they are the same.
std::string describe(const NetworkProfile& profile);

/// How a profile gets onto the links. `none`: nothing shapes. `netem`: the kernel does, on virtual links between
/// network namespaces. `emulated`: a relay in userspace delays and paces the bytes.
enum class Shaping { none, netem, emulated };

std::string to_string(Shaping shaping);

/// "auto" gives nothing: whichever this machine can do. Throws UsageError for unknown words.
std::optional<Shaping> parse_shaping(const std::string& text);

/// How late an emulated link handed on what passed it during a trial: after the moments that its conditions had set,
/// because the machine had other things to do than to let the relay work.
struct Lateness {
  std::int64_t tolerance_ns = 0;  ///< more than this is late
  std::int64_t deliveries = 0;    ///< pieces of the streams that passed, 1 or more; a piece is 1.5 to 64 kB
  std::int64_t late = 0;          ///< of those
  std::int64_t mean_ns = 0;       ///< over all deliveries
  std::int64_t p99_ns = 0;        ///< at most 6 % more than it was
  std::int64_t max_ns = 0;

  bool operator==(const Lateness&) const = default;
};

/// What a probe measured between two stages: one way over the link from `from` to `to`, and back over the one from
/// `back_from` to `back_to`, which is the way that results take where that is a link of its own.
struct LinkProbe {
  int from = 0;
  int to = 0;
  int back_from = 0;
  int back_to = 0;
  std::int64_t took_ns = 0;          ///< the round trips, then a transfer one way, then one back
  std::int64_t before_trial_ns = 0;  ///< from its end to the trial's first batch
  std::int64_t round_trip_ns = 0;    ///< median of small messages forth and back
  double forward_bit_per_s = 0;      ///< goodput of a long transfer
  double backward_bit_per_s = 0;

  bool operator==(const LinkProbe&) const = default;
};

/// What a network really did to the links of a pipeline: as the kernel tells what it applied, and as a probe over the
/// very links measured it. Absent numbers were not measured.
struct NetworkEvidence {
  NetworkProfile read_back;
  std::optional<std::int64_t> round_trip_ns;  ///< this and the next two: of the first probe
  std::optional<double> forward_bit_per_s;
  std::optional<double> backward_bit_per_s;
  std::vector<LinkProbe> probes{};      ///< together of every direction of every link that tensors cross
  std::optional<Lateness> lateness;     ///< of an emulated link that something passed during the trial
  std::vector<std::string> deviations;  ///< sentences; if there is one, nothing was measured under these conditions

  bool operator==(const NetworkEvidence&) const = default;
};

/// In records: plain numbers with their unit in the key (delay_ns, rate_bit_per_s); what is not shaped is left out.
void to_json(nlohmann::json& json, const LinkConditions& conditions);
void from_json(const nlohmann::json& json, LinkConditions& conditions);
void to_json(nlohmann::json& json, const NetworkProfile& profile);
void from_json(const nlohmann::json& json, NetworkProfile& profile);
void to_json(nlohmann::json& json, const Shaping& shaping);
void from_json(const nlohmann::json& json, Shaping& shaping);
void to_json(nlohmann::json& json, const Lateness& lateness);
void from_json(const nlohmann::json& json, Lateness& lateness);
void to_json(nlohmann::json& json, const LinkProbe& probe);
void from_json(const nlohmann::json& json, LinkProbe& probe);
void to_json(nlohmann::json& json, const NetworkEvidence& evidence);
void from_json(const nlohmann::json& json, NetworkEvidence& evidence);

/// Reads what a person wrote: {"description": …, "both": {…}} or {"forward": {…}, "backward": {…}}, values with their
/// units as in "delay": "20 ms", "rate": "5 Mbit/s", "burst": "32 kbit", "loss": "1 %" (configs/networks/README.md).
/// Unknown keys, missing units and nonsense (a loss of 2, jitter without a delay) throw UsageError with the key's path.
NetworkProfile network_profile_from_json(const nlohmann::json& json, const std::string& name);

/// `name_or_file`: a profile that ships ("wifi"), or the path of a file (one that has a slash or ends in .json; its
/// profile is called after the file). Throws UsageError; for an unknown name it lists the known ones.
NetworkProfile load_network_profile(const std::string& name_or_file);

/// A profile that ships.
struct ShippedNetwork {
  std::string name;
  std::string description;
};
std::vector<ShippedNetwork> shipped_networks();

}  // namespace paretopipe::config
