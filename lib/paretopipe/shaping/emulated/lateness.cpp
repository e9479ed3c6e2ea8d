#include <paretopipe/core/units.hpp>
#include <paretopipe/shaping/emulated/lateness.hpp>
#include <paretopipe/shaping/probe/tolerance.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace paretopipe::shaping {
namespace {

/// The share of deliveries that may be late.
constexpr double kLateShare = 0.05;

std::string text(std::int64_t nanoseconds) {
  return format_duration(static_cast<double>(nanoseconds));
}

}  // namespace

Nanoseconds lateness_tolerance(const config::NetworkProfile& profile) {
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

std::optional<config::Lateness> LatenessMeter::summary() const {
  if (deliveries_ == 0) return std::nullopt;
  return config::Lateness{.tolerance_ns = tolerance_.count(),
                          .deliveries = deliveries_,
                          .late = late_,
                          .mean_ns = sum_.count() / deliveries_,
                          .p99_ns = quantile(0.99),
                          .max_ns = max_.count()};
}

std::vector<std::string> judge(const config::Lateness& lateness) {
  const double share = static_cast<double>(lateness.late) / static_cast<double>(lateness.deliveries);
  if (share <= kLateShare && lateness.mean_ns <= lateness.tolerance_ns) return {};
  return {fmt::format(
      "the emulated link was kept from its work by others on this machine: {:.2g} % of what passed it during the trial "
      "came more than {} late, by {} on average and {} at worst; leave a core free for it, or use --shaping netem",
      100 * share, text(lateness.tolerance_ns), text(lateness.mean_ns), text(lateness.max_ns))};
}

}  // namespace paretopipe::shaping
