#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/json_file.hpp>
#include <paretopipe/experiment/network_profile.hpp>

#include <algorithm>

#include <fmt/ranges.h>

namespace paretopipe::experiment {

namespace {

/// Leaves out what an unshaped link has, such as a probability of zero.
template <class T>
void write_unless_default(nlohmann::json& json, const char* key, const T& value) {
  if (value != T{}) json[key] = value;
}

}  // namespace

NLOHMANN_JSON_SERIALIZE_ENUM(DelayDistribution, {{DelayDistribution::uniform, "uniform"},
                                                 {DelayDistribution::normal, "normal"},
                                                 {DelayDistribution::pareto, "pareto"},
                                                 {DelayDistribution::paretonormal, "paretonormal"}})

void to_json(nlohmann::json& json, const LinkConditions& conditions) {
  json = nlohmann::json::object();
  write_unless_default(json, "delay_ns", conditions.delay.count());
  write_unless_default(json, "jitter_ns", conditions.jitter.count());
  if (conditions.distribution != DelayDistribution::uniform) json["distribution"] = conditions.distribution;
  write_optional(json, "rate_bit_per_s", conditions.rate_bit_per_s);
  write_optional(json, "burst_bytes", conditions.burst_bytes);
  write_unless_default(json, "loss", conditions.loss);
  write_unless_default(json, "reorder", conditions.reorder);
  write_unless_default(json, "duplicate", conditions.duplicate);
  write_optional(json, "queue_packets", conditions.queue_packets);
  if (conditions.queue_latency) json["queue_latency_ns"] = conditions.queue_latency->count();
}

void from_json(const nlohmann::json& json, LinkConditions& conditions) {
  conditions = LinkConditions{};
  conditions.delay = Nanoseconds(json.value("delay_ns", std::int64_t{0}));
  conditions.jitter = Nanoseconds(json.value("jitter_ns", std::int64_t{0}));
  conditions.distribution = json.value("distribution", DelayDistribution::uniform);
  read_optional(json, "rate_bit_per_s", conditions.rate_bit_per_s);
  read_optional(json, "burst_bytes", conditions.burst_bytes);
  conditions.loss = json.value("loss", 0.0);
  conditions.reorder = json.value("reorder", 0.0);
  conditions.duplicate = json.value("duplicate", 0.0);
  read_optional(json, "queue_packets", conditions.queue_packets);
  if (const auto found = json.find("queue_latency_ns"); found != json.end()) {
    conditions.queue_latency = Nanoseconds(found->get<std::int64_t>());
  }
}

namespace {

const std::tuple kProfileFields{field("name", &NetworkProfile::name), field("forward", &NetworkProfile::forward),
                                field("backward", &NetworkProfile::backward)};

}  // namespace

void to_json(nlohmann::json& json, const NetworkProfile& profile) {
  write_fields(json, profile, kProfileFields);
}

void from_json(const nlohmann::json& json, NetworkProfile& profile) {
  read_fields(json, profile, kProfileFields);
}

std::string to_string(Shaping shaping) {
  switch (shaping) {
    case Shaping::none:
      return "none";
    case Shaping::netem:
      return "netem";
    case Shaping::emulated:
      return "emulated";
  }
  return "";
}

std::optional<Shaping> parse_shaping(const std::string& text) {
  if (text == "auto") return std::nullopt;
  for (const auto shaping : {Shaping::none, Shaping::netem, Shaping::emulated}) {
    if (text == to_string(shaping)) return shaping;
  }
  throw UsageError(fmt::format("shaping is \"{}\"; it must be auto, netem, emulated or none{}", text,
                               did_you_mean(text, {"auto", "netem", "emulated", "none"})));
}

void to_json(nlohmann::json& json, const Shaping& shaping) {
  json = to_string(shaping);
}

void from_json(const nlohmann::json& json, Shaping& shaping) {
  const auto known = parse_shaping(json.get<std::string>());
  if (!known) throw UsageError("a trial's shaping cannot be \"auto\"");
  shaping = *known;
}

namespace {

const std::tuple kLatenessFields{field("tolerance_ns", &Lateness::tolerance_ns),
                                 field("deliveries", &Lateness::deliveries),
                                 field("late", &Lateness::late),
                                 field("mean_ns", &Lateness::mean_ns),
                                 field("p99_ns", &Lateness::p99_ns),
                                 field("max_ns", &Lateness::max_ns)};

const std::tuple kProbeFields{field("from", &LinkProbe::from),
                              field("to", &LinkProbe::to),
                              field("back_from", &LinkProbe::back_from),
                              field("back_to", &LinkProbe::back_to),
                              field("took_ns", &LinkProbe::took_ns),
                              field("before_trial_ns", &LinkProbe::before_trial_ns),
                              field("round_trip_ns", &LinkProbe::round_trip_ns),
                              field("forward_bit_per_s", &LinkProbe::forward_bit_per_s),
                              field("backward_bit_per_s", &LinkProbe::backward_bit_per_s)};

const std::tuple kSiteFields{field("from", &EmulatedLinkSite::from),
                             field("to", &EmulatedLinkSite::to),
                             field("emulated_on", &EmulatedLinkSite::emulated_on),
                             field("own_round_trip_ns", &EmulatedLinkSite::own_round_trip_ns),
                             field("lateness", &EmulatedLinkSite::lateness),
                             field("interface", &EmulatedLinkSite::interface, "")};

const std::tuple kEvidenceFields{field("read_back", &NetworkEvidence::read_back),
                                 field("deviations", &NetworkEvidence::deviations),
                                 field("round_trip_ns", &NetworkEvidence::round_trip_ns),
                                 field("forward_bit_per_s", &NetworkEvidence::forward_bit_per_s),
                                 field("backward_bit_per_s", &NetworkEvidence::backward_bit_per_s),
                                 field("lateness", &NetworkEvidence::lateness),
                                 field("probes", &NetworkEvidence::probes, std::vector<LinkProbe>{}),
                                 field("links", &NetworkEvidence::links, std::vector<EmulatedLinkSite>{})};

}  // namespace

void to_json(nlohmann::json& json, const Lateness& lateness) {
  write_fields(json, lateness, kLatenessFields);
}

void from_json(const nlohmann::json& json, Lateness& lateness) {
  read_fields(json, lateness, kLatenessFields);
}

void to_json(nlohmann::json& json, const LinkProbe& probe) {
  write_fields(json, probe, kProbeFields);
}

void from_json(const nlohmann::json& json, LinkProbe& probe) {
  read_fields(json, probe, kProbeFields);
}

void to_json(nlohmann::json& json, const EmulatedLinkSite& link) {
  write_fields(json, link, kSiteFields);
}

void from_json(const nlohmann::json& json, EmulatedLinkSite& link) {
  read_fields(json, link, kSiteFields);
}

void to_json(nlohmann::json& json, const NetworkEvidence& evidence) {
  write_fields(json, evidence, kEvidenceFields);
}

void from_json(const nlohmann::json& json, NetworkEvidence& evidence) {
  read_fields(json, evidence, kEvidenceFields);
}

namespace {

bool is_file_name(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".json");
}

std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  for (const auto& file : shipped_network_files()) names.emplace_back(file.name);
  return names;
}

}  // namespace

NetworkProfile load_network_profile(const std::string& name_or_file) {
  if (is_file_name(name_or_file)) {
    const std::filesystem::path file(name_or_file);
    const auto json = read_json_file(file, "network profile");
    return naming_file(file, [&] { return network_profile_from_json(json, file.stem().string()); });
  }
  for (const auto& [name, text] : shipped_network_files()) {
    if (name == name_or_file) return network_profile_from_json(parse_json_text(std::string(text)), name_or_file);
  }
  const auto names = shipped_names();
  throw UsageError(fmt::format("there is no network profile \"{}\"{}; known are {}, or a file, as in ./{}.json",
                               name_or_file, did_you_mean(name_or_file, names), fmt::join(names, ", "), name_or_file));
}

std::vector<ShippedNetwork> shipped_networks() {
  std::vector<ShippedNetwork> networks;
  for (const auto& [name, text] : shipped_network_files()) {
    const auto json = parse_json_text(std::string(text));
    networks.push_back({std::string(name), json.value("description", "")});
  }
  return networks;
}

}  // namespace paretopipe::experiment
