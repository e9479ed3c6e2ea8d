#include <paretopipe/core/units.hpp>
#include <paretopipe/shaping/probe/probe.hpp>
#include <paretopipe/shaping/probe/tolerance.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace paretopipe::shaping {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

constexpr std::int64_t kPingFrameBytes = 67;  // one byte, and the headers of TCP, IP and Ethernet

Nanoseconds time_at(double bytes, std::int64_t rate_bit_per_s) {
  return std::chrono::duration_cast<Nanoseconds>(Seconds(bytes * 8 / static_cast<double>(rate_bit_per_s)));
}

/// The bytes that fill one direction and half of its queue. The way back is not counted: data that have arrived are no
/// longer in flight, though their acknowledgement is.
std::int64_t most_in_flight(const config::LinkConditions& conditions) {
  if (!conditions.rate_bit_per_s) return std::numeric_limits<std::int64_t>::max();
  const auto queued = conditions.queue_latency.value_or(default_queue_latency(conditions)) / 2;
  const auto bytes = Seconds(conditions.delay + 4 * conditions.jitter + queued).count() *
                     static_cast<double>(*conditions.rate_bit_per_s) / 8;
  return std::max(8 * kSegmentBytes, static_cast<std::int64_t>(bytes));
}

std::optional<double> expected_goodput(const config::LinkConditions& conditions, double payload_share) {
  if (!conditions.rate_bit_per_s || conditions.loss > 0 || conditions.duplicate > 0 || conditions.reorder > 0)
    return std::nullopt;
  return static_cast<double>(*conditions.rate_bit_per_s) * payload_share;
}

std::string rate_text(double bit_per_s) {
  return fmt::format("{:.4g} Mbit/s", bit_per_s / 1e6);
}

void judge_goodput(const char* direction, const std::optional<double>& expected, double measured,
                   std::vector<std::string>& sentences) {
  if (!expected || std::abs(measured - *expected) <= kTolerance * *expected) return;
  sentences.push_back(fmt::format("{}: a long transfer reached {}, where {} (within 5 %) were to be expected",
                                  direction, rate_text(measured), rate_text(*expected)));
}

}  // namespace

ProbeOptions probe_options(const config::NetworkProfile& profile) {
  ProbeOptions options;
  const auto round_trip = profile.forward.delay + profile.backward.delay;
  for (const auto* conditions : {&profile.forward, &profile.backward}) {
    if (!conditions->rate_bit_per_s) continue;
    const auto rate = *conditions->rate_bit_per_s;
    const double segments =
        Seconds(round_trip).count() * static_cast<double>(rate) / 8 / static_cast<double>(kFrameBytes);
    const auto rounds = static_cast<int>(std::ceil(std::log2(std::max(1.0, segments / 10)))) + 4;
    options.settling = std::max<Nanoseconds>(options.settling, 200ms + rounds * round_trip);
    options.measuring =
        std::max<Nanoseconds>({options.measuring, 500ms, 4 * round_trip, time_at(50.0 * kFrameBytes, rate)});
  }
  options.forward_in_flight = most_in_flight(profile.forward);
  options.backward_in_flight = most_in_flight(profile.backward);
  if (round_trip > 0ns) options.round_trips = static_cast<int>(std::clamp<std::int64_t>(2s / round_trip, 7, 30));
  return options;
}

Expectation expectation(const config::NetworkProfile& profile, double payload_share) {
  Expectation expected;
  expected.round_trip_least = profile.forward.delay + profile.backward.delay;
  expected.round_trip_most = expected.round_trip_least;
  for (const auto* conditions : {&profile.forward, &profile.backward}) {
    if (conditions->rate_bit_per_s) expected.round_trip_most += time_at(kPingFrameBytes, *conditions->rate_bit_per_s);
  }
  expected.forward_bit_per_s = expected_goodput(profile.forward, payload_share);
  expected.backward_bit_per_s = expected_goodput(profile.backward, payload_share);
  return expected;
}

std::vector<std::string> judge(const config::NetworkProfile& profile, const Probe& probe, double payload_share) {
  const auto expected = expectation(profile, payload_share);
  const auto& [forward, backward] = std::pair(profile.forward, profile.backward);
  const auto jitter = forward.jitter + backward.jitter;
  const bool scattered = jitter > 0ns || forward.reorder > 0 || backward.reorder > 0;
  const auto measured = scattered ? probe.round_trip_median : probe.round_trip_min;
  const auto tolerance = tolerance_of(expected.round_trip_most) + jitter;

  std::vector<std::string> sentences;
  if (measured < expected.round_trip_least - tolerance || measured > expected.round_trip_most + tolerance) {
    const auto text = [](Nanoseconds time) { return format_duration(static_cast<double>(time.count())); };
    sentences.push_back(fmt::format("the {} round trip is {}, where {} (within {}) were to be expected",
                                    scattered ? "median" : "smallest", text(measured), text(expected.round_trip_most),
                                    text(tolerance)));
  }
  judge_goodput("forward", expected.forward_bit_per_s, probe.forward_bit_per_s, sentences);
  judge_goodput("backward", expected.backward_bit_per_s, probe.backward_bit_per_s, sentences);
  return sentences;
}

void to_json(nlohmann::json& json, const Probe& probe) {
  json = {{"round_trip_min_ns", probe.round_trip_min.count()},
          {"round_trip_median_ns", probe.round_trip_median.count()},
          {"forward_bit_per_s", probe.forward_bit_per_s},
          {"backward_bit_per_s", probe.backward_bit_per_s}};
}

void from_json(const nlohmann::json& json, Probe& probe) {
  probe.round_trip_min = Nanoseconds(json.at("round_trip_min_ns").get<std::int64_t>());
  probe.round_trip_median = Nanoseconds(json.at("round_trip_median_ns").get<std::int64_t>());
  json.at("forward_bit_per_s").get_to(probe.forward_bit_per_s);
  json.at("backward_bit_per_s").get_to(probe.backward_bit_per_s);
}

}  // namespace paretopipe::shaping
