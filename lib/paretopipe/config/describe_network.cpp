#include <paretopipe/config/network_profile.hpp>
#include <paretopipe/core/units.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::config {
namespace {

std::string duration(Nanoseconds time) {
  return format_duration(static_cast<double>(time.count()));
}

void describe_probability(std::vector<std::string>& words, const char* name, double probability) {
  if (probability > 0) words.push_back(fmt::format("{} {:g} %", name, 100 * probability));
}

std::string describe_delay(const LinkConditions& conditions) {
  auto text = duration(conditions.delay);
  if (conditions.jitter.count() > 0) text += fmt::format(" +- {}", duration(conditions.jitter));
  if (conditions.distribution != DelayDistribution::uniform) {
    text += fmt::format(" {}", nlohmann::json(conditions).at("distribution").get<std::string>());
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

}  // namespace paretopipe::config
