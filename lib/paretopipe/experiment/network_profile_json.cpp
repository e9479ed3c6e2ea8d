#include <paretopipe/core/json.hpp>
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

void to_json(nlohmann::json& json, const NetworkProfile& profile) {
  json = {{"name", profile.name}, {"forward", profile.forward}, {"backward", profile.backward}};
}

void from_json(const nlohmann::json& json, NetworkProfile& profile) {
  json.at("name").get_to(profile.name);
  json.at("forward").get_to(profile.forward);
  json.at("backward").get_to(profile.backward);
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

void to_json(nlohmann::json& json, const Lateness& lateness) {
  json = {{"tolerance_ns", lateness.tolerance_ns}, {"deliveries", lateness.deliveries}, {"late", lateness.late},
          {"mean_ns", lateness.mean_ns},           {"p99_ns", lateness.p99_ns},         {"max_ns", lateness.max_ns}};
}

void from_json(const nlohmann::json& json, Lateness& lateness) {
  json.at("tolerance_ns").get_to(lateness.tolerance_ns);
  json.at("deliveries").get_to(lateness.deliveries);
  json.at("late").get_to(lateness.late);
  json.at("mean_ns").get_to(lateness.mean_ns);
  json.at("p99_ns").get_to(lateness.p99_ns);
  json.at("max_ns").get_to(lateness.max_ns);
}

void to_json(nlohmann::json& json, const LinkProbe& probe) {
  json = {{"from", probe.from},
          {"to", probe.to},
          {"back_from", probe.back_from},
          {"back_to", probe.back_to},
          {"took_ns", probe.took_ns},
          {"before_trial_ns", probe.before_trial_ns},
          {"round_trip_ns", probe.round_trip_ns},
          {"forward_bit_per_s", probe.forward_bit_per_s},
          {"backward_bit_per_s", probe.backward_bit_per_s}};
}

void from_json(const nlohmann::json& json, LinkProbe& probe) {
  json.at("from").get_to(probe.from);
  json.at("to").get_to(probe.to);
  json.at("back_from").get_to(probe.back_from);
  json.at("back_to").get_to(probe.back_to);
  json.at("took_ns").get_to(probe.took_ns);
  json.at("before_trial_ns").get_to(probe.before_trial_ns);
  json.at("round_trip_ns").get_to(probe.round_trip_ns);
  json.at("forward_bit_per_s").get_to(probe.forward_bit_per_s);
  json.at("backward_bit_per_s").get_to(probe.backward_bit_per_s);
}

void to_json(nlohmann::json& json, const EmulatedLinkSite& link) {
  json = {{"from", link.from},
          {"to", link.to},
          {"emulated_on", link.emulated_on},
          {"own_round_trip_ns", link.own_round_trip_ns}};
  write_optional(json, "lateness", link.lateness);
}

void from_json(const nlohmann::json& json, EmulatedLinkSite& link) {
  json.at("from").get_to(link.from);
  json.at("to").get_to(link.to);
  json.at("emulated_on").get_to(link.emulated_on);
  json.at("own_round_trip_ns").get_to(link.own_round_trip_ns);
  read_optional(json, "lateness", link.lateness);
}

void to_json(nlohmann::json& json, const NetworkEvidence& evidence) {
  json = {{"read_back", evidence.read_back}, {"deviations", evidence.deviations}};
  write_optional(json, "round_trip_ns", evidence.round_trip_ns);
  write_optional(json, "forward_bit_per_s", evidence.forward_bit_per_s);
  write_optional(json, "backward_bit_per_s", evidence.backward_bit_per_s);
  if (!evidence.probes.empty()) json["probes"] = evidence.probes;
  if (!evidence.links.empty()) json["links"] = evidence.links;
  write_optional(json, "lateness", evidence.lateness);
}

void from_json(const nlohmann::json& json, NetworkEvidence& evidence) {
  json.at("read_back").get_to(evidence.read_back);
  json.at("deviations").get_to(evidence.deviations);
  read_optional(json, "round_trip_ns", evidence.round_trip_ns);
  read_optional(json, "forward_bit_per_s", evidence.forward_bit_per_s);
  read_optional(json, "backward_bit_per_s", evidence.backward_bit_per_s);
  evidence.probes = json.value("probes", std::vector<LinkProbe>{});
  evidence.links = json.value("links", std::vector<EmulatedLinkSite>{});
  read_optional(json, "lateness", evidence.lateness);
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
