#include <paretopipe/shaping/emulated/schedule.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace paretopipe::shaping {
namespace {

using config::LinkConditions;

/// Replaces a rate that is not set: more than a relay can move.
constexpr double kUnlimitedRate = 10e9;

Nanoseconds nanoseconds(double value) {
  return Nanoseconds(std::llround(value));
}

/// The time that `bytes` take at the rate.
Nanoseconds duration(std::int64_t bytes, std::int64_t rate_bit_per_s) {
  return nanoseconds(static_cast<double>(bytes) * 8e9 / static_cast<double>(rate_bit_per_s));
}

double rate_of(const LinkConditions& conditions) {
  return conditions.rate_bit_per_s ? static_cast<double>(*conditions.rate_bit_per_s) : kUnlimitedRate;
}

double bytes_in(double seconds, const LinkConditions& conditions) {
  return seconds * rate_of(conditions) / 8;
}

}  // namespace

std::vector<std::string> unsupported(const LinkConditions& conditions) {
  std::vector<std::string> sentences;
  const auto refuse = [&](bool asked, const char* what, const char* why) {
    if (asked) {
      sentences.push_back(fmt::format("An emulated link cannot {}: {}. Use netem, or leave it out.", what, why));
    }
  };
  refuse(conditions.loss > 0, "lose packets", "it relays a byte stream, and a stream has no gaps");
  refuse(conditions.reorder > 0, "reorder packets", "it relays a byte stream, which has one order");
  refuse(conditions.duplicate > 0, "duplicate packets", "it relays a byte stream, in which each byte comes once");
  return sentences;
}

EmulatedSchedule::EmulatedSchedule(const LinkConditions& conditions, std::uint64_t seed)
    : conditions_(conditions), jitter_(conditions.distribution, seed) {}

void EmulatedSchedule::set_conditions(const LinkConditions& conditions, std::uint64_t seed) {
  conditions_ = conditions;
  jitter_ = EmulatedJitter(conditions.distribution, seed);
  bucket_empty_ = {};
}

Clock::time_point EmulatedSchedule::deliver(Clock::time_point arrival, std::int64_t bytes) {
  last_ = std::max(last_, leave(arrival, bytes) + travel());
  return last_;
}

Clock::time_point EmulatedSchedule::leave(Clock::time_point arrival, std::int64_t bytes) {
  if (!conditions_.rate_bit_per_s) return arrival;
  const auto rate = *conditions_.rate_bit_per_s;
  const auto fullest = arrival - duration(conditions_.burst_bytes.value_or(0), rate);
  bucket_empty_ = std::max(bucket_empty_, fullest) + duration(bytes, rate);
  return std::max(arrival, bucket_empty_);
}

Nanoseconds EmulatedSchedule::travel() {
  if (conditions_.jitter.count() == 0) return conditions_.delay;
  const auto scatter = nanoseconds(static_cast<double>(conditions_.jitter.count()) * jitter_.next());
  return std::max(Nanoseconds(0), conditions_.delay + scatter);
}

std::int64_t piece_bytes(const LinkConditions& conditions) {
  return std::llround(std::clamp(bytes_in(250e-6, conditions), 1500.0, 65536.0));
}

std::size_t buffer_limit(const LinkConditions& conditions) {
  constexpr double kSocketBuffer = 4 << 20;
  constexpr double kMost = 256 << 20;
  // No table of delays goes beyond four times the jitter.
  const double seconds = std::chrono::duration<double>(conditions.delay + 4 * conditions.jitter).count();
  return static_cast<std::size_t>(std::min(kMost, kSocketBuffer + bytes_in(seconds, conditions)));
}

}  // namespace paretopipe::shaping
