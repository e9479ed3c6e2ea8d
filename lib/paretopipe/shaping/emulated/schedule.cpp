#include <paretopipe/core/units.hpp>
#include <paretopipe/shaping/emulated/schedule.hpp>
#include <paretopipe/shaping/probe/probe.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::shaping {

namespace {

using experiment::DelayDistribution;

/// The end of the tables: the largest 16-bit number, in units of NETEM_DIST_SCALE.
constexpr double kEndOfTable = 32767.0 / 8192.0;

/// The Pareto value that a share `above` of all values exceeds, as scaled in iproute2's netem/pareto.c: shape 3,
/// shifted by its mean of 1.5.
double pareto(double above) {
  return std::min(kEndOfTable, (std::pow(above, -1.0 / 3.0) - 1.5) * 4.0 / 3.0);
}

/// The share of all normally distributed values that exceed `value`.
double above(double value) {
  return 0.5 * std::erfc(value / std::numbers::sqrt2);
}

}  // namespace

EmulatedJitter::EmulatedJitter(DelayDistribution distribution, std::uint64_t seed)
    : distribution_(distribution), random_(seed) {}

double EmulatedJitter::next() {
  switch (distribution_) {
    case DelayDistribution::uniform:
      return 2.0 * uniform() - 1.0;
    case DelayDistribution::normal:
      return normal();
    case DelayDistribution::pareto:
      return pareto(uniform());
    case DelayDistribution::paretonormal: {
      // Both at the same quantile, as netem/paretonormal.c mixes them.
      const double value = normal();
      return 0.25 * value + 0.75 * pareto(above(value));
    }
  }
  return 0;
}

/// In (0, 1]. Not std::uniform_real_distribution, which differs between standard libraries.
double EmulatedJitter::uniform() {
  return static_cast<double>((random_() >> 11U) + 1) * 0x1p-53;
}

/// Box and Muller's transform. Its second value is discarded, so the seed is the only state.
double EmulatedJitter::normal() {
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  return std::clamp(radius * std::cos(2.0 * std::numbers::pi * uniform()), -kEndOfTable, kEndOfTable);
}

namespace {

using experiment::LinkConditions;

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

namespace {

/// The share of deliveries that may be late.
constexpr double kLateShare = 0.05;

std::string text(std::int64_t nanoseconds) {
  return format_duration(static_cast<double>(nanoseconds));
}

}  // namespace

Nanoseconds lateness_tolerance(const experiment::NetworkProfile& profile) {
  return tolerance_of(std::min(profile.forward.delay, profile.backward.delay));
}

std::size_t LatenessMeter::class_of(std::int64_t lateness_ns) {
  const auto value = static_cast<std::uint64_t>(lateness_ns);
  if (value < kClassesPerPower) return value;
  const auto power = static_cast<std::size_t>(std::bit_width(value)) - 5;  // 0 for 16 … 31
  return (power + 1) * kClassesPerPower + ((value >> power) & (kClassesPerPower - 1));
}

/// The largest lateness of the class.
std::int64_t LatenessMeter::end_of(std::size_t lateness_class) {
  if (lateness_class < kClassesPerPower) return static_cast<std::int64_t>(lateness_class);
  const auto power = lateness_class / kClassesPerPower - 1;
  const auto first = (kClassesPerPower + lateness_class % kClassesPerPower) << power;
  return static_cast<std::int64_t>(first + (std::uint64_t{1} << power) - 1);
}

void LatenessMeter::add(Nanoseconds lateness) {
  ++deliveries_;
  if (lateness > tolerance_) ++late_;
  sum_ += lateness;
  max_ = std::max(max_, lateness);
  ++counts_.at(class_of(lateness.count()));
}

void LatenessMeter::add(const LatenessMeter& other) {
  deliveries_ += other.deliveries_;
  late_ += other.late_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
  for (std::size_t i = 0; i < kClasses; ++i) counts_[i] += other.counts_[i];
}

std::int64_t LatenessMeter::quantile(double q) const {
  const auto rank = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(deliveries_)));
  std::int64_t so_far = 0;
  for (std::size_t i = 0; i < kClasses; ++i) {
    so_far += counts_[i];
    if (so_far >= rank) return std::min(end_of(i), max_.count());
  }
  return max_.count();
}

std::optional<experiment::Lateness> LatenessMeter::summary() const {
  if (deliveries_ == 0) return std::nullopt;
  return experiment::Lateness{.tolerance_ns = tolerance_.count(),
                              .deliveries = deliveries_,
                              .late = late_,
                              .mean_ns = sum_.count() / deliveries_,
                              .p99_ns = quantile(0.99),
                              .max_ns = max_.count()};
}

void to_json(nlohmann::json& json, const LatenessMeter& meter) {
  auto classes = nlohmann::json::array();
  for (std::size_t i = 0; i < LatenessMeter::kClasses; ++i) {
    if (meter.counts_[i] > 0) classes.push_back({i, meter.counts_[i]});
  }
  json = {{"tolerance_ns", meter.tolerance_.count()},
          {"deliveries", meter.deliveries_},
          {"late", meter.late_},
          {"sum_ns", meter.sum_.count()},
          {"max_ns", meter.max_.count()},
          {"classes", std::move(classes)}};
}

void from_json(const nlohmann::json& json, LatenessMeter& meter) {
  meter = LatenessMeter(Nanoseconds(json.at("tolerance_ns").get<std::int64_t>()));
  json.at("deliveries").get_to(meter.deliveries_);
  json.at("late").get_to(meter.late_);
  meter.sum_ = Nanoseconds(json.at("sum_ns").get<std::int64_t>());
  meter.max_ = Nanoseconds(json.at("max_ns").get<std::int64_t>());
  for (const auto& [index, count] : json.at("classes").get<std::vector<std::pair<std::size_t, std::int64_t>>>()) {
    meter.counts_.at(index) = count;
  }
}

std::vector<std::string> judge(const experiment::Lateness& lateness, const std::string& device) {
  const double share = static_cast<double>(lateness.late) / static_cast<double>(lateness.deliveries);
  if (share <= kLateShare && lateness.mean_ns <= lateness.tolerance_ns) return {};
  return {fmt::format(
      "the emulated link was kept from its work by others on {}: {:.3g} % of what passed it during the trial "
      "came more than {} late, by {} on average and {} at worst; leave a core free for it{}",
      device.empty() ? "this machine" : device, 100 * share, text(lateness.tolerance_ns), text(lateness.mean_ns),
      text(lateness.max_ns), device.empty() ? ", or use --shaping netem" : "")};
}

}  // namespace paretopipe::shaping
