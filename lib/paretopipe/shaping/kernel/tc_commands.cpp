#include <paretopipe/core/text.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace paretopipe::shaping {

namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kTick = 4ms;
constexpr std::int64_t kUnpacedRate = 10'000'000'000;  // bit/s: what a CPU moves through a veth pair
constexpr std::int64_t kKernelsLimit = 1000;           // packets

double seconds(Nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

/// tc keeps microseconds; more digits would only look exact.
std::string tc_time(Nanoseconds duration) {
  if (duration % 1ms == 0ns) return fmt::format("{}ms", duration / 1ms);
  return fmt::format("{}us", static_cast<double>(duration.count()) / 1e3);
}

std::string tc_rate(std::int64_t bit_per_s) {
  return fmt::format("{}bit", bit_per_s);
}

std::string tc_percent(double probability) {
  return fmt::format("{:.9g}%", probability * 100);
}

void append(Command& command, std::initializer_list<std::string> words) {
  command.insert(command.end(), words);
}

using experiment::DelayDistribution;

/// The names of iproute2's tables. The kernel needs none for a uniform delay.
constexpr Word<DelayDistribution> kTables[]{{DelayDistribution::normal, "normal"},
                                            {DelayDistribution::pareto, "pareto"},
                                            {DelayDistribution::paretonormal, "paretonormal"}};

void append_delay(Command& command, const experiment::LinkConditions& conditions) {
  if (conditions.delay == 0ns) return;
  append(command, {"delay", tc_time(conditions.delay)});
  if (conditions.jitter == 0ns) return;
  command.push_back(tc_time(conditions.jitter));
  if (conditions.distribution == DelayDistribution::uniform) return;
  append(command, {"distribution", word_of(kTables, conditions.distribution)});
}

Command add_command(const std::string& interface, const Place& place) {
  Command command{"tc", "qdisc", "add", "dev", interface};
  command.insert(command.end(), place.under.begin(), place.under.end());
  append(command, {"handle", fmt::format("{:x}:", place.handle)});
  return command;
}

Place below(const Place& place) {
  return {{"parent", fmt::format("{:x}:1", place.handle)}, static_cast<std::uint16_t>(place.handle + 1)};
}

Command netem_command(const std::string& interface, const experiment::LinkConditions& conditions, const Place& place) {
  const auto limit = conditions.queue_packets.value_or(default_queue_packets(conditions));
  auto command = add_command(interface, place);
  append(command, {"netem", "limit", std::to_string(limit)});
  append_delay(command, conditions);
  if (conditions.loss > 0) append(command, {"loss", tc_percent(conditions.loss)});
  if (conditions.duplicate > 0) append(command, {"duplicate", tc_percent(conditions.duplicate)});
  if (conditions.reorder > 0) append(command, {"reorder", tc_percent(conditions.reorder)});
  if (conditions.rate_bit_per_s && !needs_tbf(conditions)) {
    append(command, {"rate", tc_rate(*conditions.rate_bit_per_s)});
  } else if (conditions.jitter > 0ns) {
    append(command, {"rate", tc_rate(kOrderKeepingRate)});
  }
  return command;
}

Command tbf_command(const std::string& interface, const experiment::LinkConditions& conditions, const Place& place) {
  const auto rate = conditions.rate_bit_per_s.value();
  const auto burst = conditions.burst_bytes.value_or(default_burst_bytes(rate));
  const auto latency = conditions.queue_latency.value_or(default_queue_latency(conditions));
  auto command = add_command(interface, needs_netem(conditions) ? below(place) : place);
  append(command, {"tbf", "rate", tc_rate(rate), "burst", fmt::format("{}b", burst), "latency", tc_time(latency)});
  return command;
}

}  // namespace

bool needs_netem(const experiment::LinkConditions& conditions) {
  return conditions.delay > 0ns || conditions.jitter > 0ns || conditions.loss > 0 || conditions.reorder > 0 ||
         conditions.duplicate > 0 || conditions.queue_packets;
}

bool needs_tbf(const experiment::LinkConditions& conditions) {
  if (!conditions.rate_bit_per_s) return false;
  return !needs_netem(conditions) || conditions.burst_bytes || conditions.queue_latency;
}

std::vector<Command> shape_commands(const std::string& interface, const experiment::LinkConditions& conditions,
                                    const Place& place) {
  std::vector<Command> commands;
  if (needs_netem(conditions)) commands.push_back(netem_command(interface, conditions, place));
  if (needs_tbf(conditions)) commands.push_back(tbf_command(interface, conditions, place));
  return commands;
}

Command clear_command(const std::string& interface) {
  return {"tc", "qdisc", "del", "dev", interface, "root"};
}

Command show_command(const std::string& interface) {
  return {"tc", "-j", "qdisc", "show", "dev", interface};
}

Command offload_off_command(const std::string& interface) {
  return {"ip", "link", "set", "dev", interface, "gso_max_segs", "1"};
}

std::int64_t default_burst_bytes(std::int64_t rate_bit_per_s) {
  return 2 * kFrameBytes + static_cast<std::int64_t>(static_cast<double>(rate_bit_per_s) / 8 * seconds(kTick));
}

Nanoseconds default_queue_latency(const experiment::LinkConditions& conditions) {
  Nanoseconds frames{0};
  if (conditions.rate_bit_per_s) {
    frames = Nanoseconds(16 * kFrameBytes * 8 * std::int64_t{1'000'000'000} / *conditions.rate_bit_per_s);
  }
  return std::max<Nanoseconds>({100ms, 2 * conditions.delay, frames});
}

std::int64_t default_queue_packets(const experiment::LinkConditions& conditions) {
  const auto rate = static_cast<double>(conditions.rate_bit_per_s.value_or(kUnpacedRate));
  const auto waiting = conditions.queue_latency.value_or(default_queue_latency(conditions));
  // Four times the jitter, because the tables of tc-netem reach that far.
  const double held = seconds(conditions.delay + 4 * conditions.jitter + (conditions.rate_bit_per_s ? waiting : 0ns));
  const auto frames = static_cast<std::int64_t>(std::ceil(held * rate / 8 / static_cast<double>(kFrameBytes)));
  return std::max(kKernelsLimit, 2 * frames);
}

std::vector<std::string> warnings(const experiment::LinkConditions& conditions) {
  std::vector<std::string> sentences;
  if (conditions.burst_bytes) {
    const auto rate = conditions.rate_bit_per_s.value();
    const double delivered = static_cast<double>(rate) / 8 * seconds(kTick);
    if (static_cast<double>(*conditions.burst_bytes) < delivered) {
      sentences.push_back(fmt::format(
          "a burst of {} bytes may be too small for {}: a timer that is late by a tick (4 ms) misses {:.0f} bytes; "
          "{} would do",
          *conditions.burst_bytes, format_rate(rate), delivered, default_burst_bytes(rate)));
    }
  }
  if (conditions.queue_packets) {
    auto without_queue = conditions;
    without_queue.queue_latency = Nanoseconds(0);
    const auto under_way = default_queue_packets(without_queue) / 2;
    if (conditions.rate_bit_per_s && *conditions.queue_packets < under_way && under_way > kKernelsLimit / 2) {
      sentences.push_back(fmt::format(
          "a queue of {} packets is less than the {} that are under way at {}; the rate will not be reached",
          *conditions.queue_packets, under_way, format_rate(*conditions.rate_bit_per_s)));
    }
  }
  return sentences;
}

}  // namespace paretopipe::shaping
