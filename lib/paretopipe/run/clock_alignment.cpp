#include <paretopipe/run/clock_alignment.hpp>

#include <algorithm>
#include <cmath>

namespace paretopipe::run {

const ClockExchange& best_exchange(std::span<const ClockExchange> exchanges) {
  return *std::min_element(
      exchanges.begin(), exchanges.end(),
      [](const ClockExchange& left, const ClockExchange& right) { return left.round_trip() < right.round_trip(); });
}

ClockAlignment::ClockAlignment(const ClockExchange& before, const ClockExchange& after)
    : peer_before_(before.midpoint() + before.offset()), peer_after_(after.midpoint() + after.offset()) {
  relation_.same_clock = false;
  relation_.offset_before_ns = -before.offset();
  relation_.offset_after_ns = -after.offset();
  relation_.error_bound_ns = std::max(before.error_bound(), after.error_bound());
}

std::int64_t ClockAlignment::to_ours(std::int64_t peer_time_ns) const {
  if (relation_.same_clock) return peer_time_ns;
  const double span = static_cast<double>(std::max<std::int64_t>(1, peer_after_ - peer_before_));
  const double share = static_cast<double>(peer_time_ns - peer_before_) / span;
  const double drift = static_cast<double>(relation_.offset_after_ns - relation_.offset_before_ns);
  return peer_time_ns + relation_.offset_before_ns + std::llround(share * drift);
}

}  // namespace paretopipe::run
