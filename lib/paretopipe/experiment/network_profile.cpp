#include <paretopipe/core/json.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/experiment/network_profile.hpp>

#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::experiment {

namespace {

using namespace std::chrono_literals;

// Values beyond these limits are typing mistakes, and would not fit what tc hands to the kernel.
constexpr Nanoseconds kLongestWait = 60s;
constexpr std::int64_t kSlowestRate = 10'000;           // bit/s: a frame takes a second
constexpr std::int64_t kFastestRate = 100'000'000'000;  // bit/s
constexpr std::int64_t kSmallestBurst = 1'514;          // bytes: one Ethernet frame
constexpr std::int64_t kLargestBurst = 1'000'000'000;   // bytes
constexpr std::int64_t kLargestQueue = 10'000'000;      // packets

/// Reads one direction of a link as a person wrote it.
class ConditionsReader {
 public:
  ConditionsReader(const nlohmann::json& json, const std::string& path) : reader_(json, path), path_(path) {}

  LinkConditions read() {
    LinkConditions conditions;
    read_text("delay", "20 ms", parse_duration, conditions.delay);
    read_text("jitter", "5 ms", parse_duration, conditions.jitter);
    read_distribution(conditions.distribution);
    read_text("rate", "5 Mbit/s", parse_rate, conditions.rate_bit_per_s);
    read_text("burst", "32 kbit", parse_bytes_or_bits, conditions.burst_bytes);
    read_probability("loss", conditions.loss);
    read_probability("reorder", conditions.reorder);
    read_probability("duplicate", conditions.duplicate);
    if (reader_.find("queue_packets") != nullptr) reader_.read("queue_packets", conditions.queue_packets.emplace());
    read_text("queue_latency", "400 ms", parse_duration, conditions.queue_latency);
    reader_.refuse_unknown_keys();
    return conditions;
  }

 private:
  [[noreturn]] void refuse(const std::string& key, std::string_view reason) const {
    throw UsageError(fmt::format("{}.{}: {}", path_, key, reason));
  }

  template <class Parse, class T>
  void parse_into(const std::string& key, const std::string& text, Parse parse, T& value) const {
    try {
      value = parse(text);
    } catch (const UsageError& error) {
      refuse(key, error.what());
    }
  }

  template <class Parse, class T>
  void read_text(const std::string& key, std::string_view example, Parse parse, T& value) {
    const auto* found = reader_.find(key);
    if (found == nullptr) return;
    if (!found->is_string()) {
      refuse(key,
             fmt::format("{} has no unit; write it in quotes and with its unit, like \"{}\"", found->dump(), example));
    }
    parse_into(key, found->template get<std::string>(), parse, value);
  }

  /// Probabilities need no unit: a plain number is as clear as a percentage.
  void read_probability(const std::string& key, double& value) {
    const auto* found = reader_.find(key);
    if (found == nullptr) return;
    if (!found->is_string() && !found->is_number()) {
      refuse(key, fmt::format("{} is not a probability; write it like \"1 %\" or 0.01", found->dump()));
    }
    parse_into(key, found->is_string() ? found->get<std::string>() : found->dump(), parse_probability, value);
  }

  void read_distribution(DelayDistribution& value) {
    const auto* found = reader_.find("distribution");
    if (found == nullptr) return;
    found->get_to(value);  // an unknown word reads as the first one
    if (nlohmann::json(value) == *found) return;
    refuse("distribution",
           fmt::format("{} is not known; it must be one of \"uniform\", \"normal\", \"pareto\", \"paretonormal\"",
                       found->dump()));
  }

  ObjectReader reader_;
  std::string path_;
};

std::string duration(Nanoseconds time) {
  return format_duration(static_cast<double>(time.count()));
}

/// Checks each value by itself.
void check_ranges(const LinkConditions& conditions, const std::string& path) {
  const auto refuse = [&](const char* key, const std::string& value, const std::string& least,
                          const std::string& most) {
    throw UsageError(fmt::format("{}.{} is {}; it must be from {} to {}", path, key, value, least, most));
  };
  const auto check_wait = [&](const char* key, Nanoseconds value, Nanoseconds least) {
    if (value < least || value > kLongestWait) refuse(key, duration(value), duration(least), duration(kLongestWait));
  };
  check_wait("delay", conditions.delay, 0s);
  check_wait("jitter", conditions.jitter, 0s);
  if (conditions.queue_latency) check_wait("queue_latency", *conditions.queue_latency, 1us);
  if (const auto rate = conditions.rate_bit_per_s; rate && (*rate < kSlowestRate || *rate > kFastestRate)) {
    refuse("rate", format_rate(*rate), format_rate(kSlowestRate), format_rate(kFastestRate));
  }
  if (const auto burst = conditions.burst_bytes; burst && (*burst < kSmallestBurst || *burst > kLargestBurst)) {
    refuse("burst", fmt::format("{} bytes", *burst),
           fmt::format("{} (a smaller bucket lets no whole frame pass)", kSmallestBurst),
           std::to_string(kLargestBurst));
  }
  if (const auto queue = conditions.queue_packets; queue && (*queue < 1 || *queue > kLargestQueue)) {
    refuse("queue_packets", std::to_string(*queue), "1", std::to_string(kLargestQueue));
  }
  if (conditions.loss >= 1) {
    throw UsageError(fmt::format("{}.loss is {:g}; nothing would ever arrive", path, conditions.loss));
  }
}

/// Checks that the values fit together.
void check_needs(const LinkConditions& conditions, const std::string& path) {
  struct Need {
    bool unmet;
    const char* key;
    const char* reason;
  };
  const bool delayed = conditions.delay > 0s;
  const bool paced = conditions.rate_bit_per_s.has_value();
  const std::array needs{
      Need{conditions.jitter > 0s && !delayed, "jitter", "needs a delay that it can scatter"},
      Need{conditions.jitter > conditions.delay, "jitter",
           "is larger than the delay; packets would have to arrive before they are sent"},
      Need{conditions.distribution != DelayDistribution::uniform && conditions.jitter == 0s, "distribution",
           "needs a jitter whose distribution it is"},
      Need{conditions.burst_bytes && !paced, "burst", "needs a rate: it is the depth of the rate's token bucket"},
      Need{conditions.reorder > 0 && !delayed, "reorder", "needs a delay: a reordered packet is one that skips it"},
      Need{conditions.queue_latency && !paced, "queue_latency", "needs a rate: without one nothing waits"},
  };
  for (const auto& [unmet, key, reason] : needs) {
    if (unmet) throw UsageError(fmt::format("{}.{} {}", path, key, reason));
  }
}

LinkConditions read_conditions(const nlohmann::json& json, const std::string& path) {
  const auto conditions = ConditionsReader(json, path).read();
  check_ranges(conditions, path);
  check_needs(conditions, path);
  return conditions;
}

}  // namespace

NetworkProfile network_profile_from_json(const nlohmann::json& json, const std::string& name) {
  const std::string path = "network";
  ObjectReader reader(json, path);
  std::string description;
  reader.read("description", description);
  const auto* both = reader.find("both");
  const auto* forward = reader.find("forward");
  const auto* backward = reader.find("backward");
  reader.refuse_unknown_keys();
  if (both != nullptr && (forward != nullptr || backward != nullptr)) {
    throw UsageError(fmt::format("{} has \"both\" and \"{}\"; write either \"both\", or one for each direction", path,
                                 forward != nullptr ? "forward" : "backward"));
  }
  NetworkProfile profile;
  profile.name = name;
  if (both != nullptr) profile.forward = profile.backward = read_conditions(*both, path + ".both");
  if (forward != nullptr) profile.forward = read_conditions(*forward, path + ".forward");
  if (backward != nullptr) profile.backward = read_conditions(*backward, path + ".backward");
  return profile;
}

namespace {

void describe_probability(std::vector<std::string>& words, const char* name, double probability) {
  if (probability > 0) words.push_back(fmt::format("{} {:g} %", name, 100 * probability));
}

std::string describe_delay(const LinkConditions& conditions) {
  auto text = duration(conditions.delay);
  if (conditions.jitter.count() > 0) text += fmt::format(" +- {}", duration(conditions.jitter));
  if (conditions.distribution != DelayDistribution::uniform) {
    text += fmt::format(" {}", nlohmann::json(conditions.distribution).get<std::string>());
  }
  return text;
}

}  // namespace

std::string describe(const LinkConditions& conditions) {
  if (!conditions.shaped()) return "unshaped";
  std::vector<std::string> words;
  if (conditions.delay.count() > 0) words.push_back(describe_delay(conditions));
  if (conditions.rate_bit_per_s) {
    words.push_back(format_rate(*conditions.rate_bit_per_s));
  }
  if (conditions.burst_bytes) words.push_back(fmt::format("burst {} B", *conditions.burst_bytes));
  describe_probability(words, "loss", conditions.loss);
  describe_probability(words, "reorder", conditions.reorder);
  describe_probability(words, "duplicate", conditions.duplicate);
  if (conditions.queue_packets) words.push_back(fmt::format("queue of {} packets", *conditions.queue_packets));
  if (conditions.queue_latency) words.push_back(fmt::format("queue of {}", duration(*conditions.queue_latency)));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string describe(const NetworkProfile& profile) {
  if (profile.forward == profile.backward) return describe(profile.forward);
  return fmt::format("forward {}; backward {}", describe(profile.forward), describe(profile.backward));
}

namespace {

constexpr Word<Encryption> kEncryptions[]{{Encryption::none, "plain"}, {Encryption::tls, "tls"}};

}  // namespace

std::string to_string(Encryption encryption) {
  return word_of(kEncryptions, encryption);
}

Encryption parse_encryption(const std::string& text) {
  return parse_word("link", kEncryptions, text);
}

void to_json(nlohmann::json& json, Encryption encryption) {
  json = to_string(encryption);
}

void from_json(const nlohmann::json& json, Encryption& encryption) {
  encryption = parse_encryption(json.get<std::string>());
}

}  // namespace paretopipe::experiment
