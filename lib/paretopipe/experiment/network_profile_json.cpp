#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/json_file.hpp>
#include <paretopipe/experiment/network_profile.hpp>

namespace paretopipe::experiment {

namespace {

/// Leaves out what an unshaped link has, such as a probability of zero.
template <class T>
void write_unless_default(nlohmann::json& json, const char* key, const T& value) {
  if (value != T{}) json[key] = value;
}

}  // namespace

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

constexpr Word<Shaping> kShapings[]{
    {Shaping::netem, "netem"}, {Shaping::emulated, "emulated"}, {Shaping::none, "none"}};

}  // namespace

std::string to_string(Shaping shaping) {
  return word_of(kShapings, shaping);
}

std::optional<Shaping> parse_shaping(const std::string& text) {
  if (text == "auto") return std::nullopt;
  if (const auto found = find_word(kShapings, text)) return found;
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

NetworkProfile load_network_profile(const std::string& name_or_file) {
  const auto* kind = "network profile";
  if (names_profile_file(name_or_file)) return load_profile_file(name_or_file, kind, network_profile_from_json);
  return network_profile_from_json(shipped_profile(name_or_file, kind, shipped_network_files()), name_or_file);
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
