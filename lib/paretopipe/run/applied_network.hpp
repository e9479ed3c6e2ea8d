#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/shaping/network.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace paretopipe::run {

/// How long a probe's result is trusted. Then the links are probed again, also between two trials over the same
/// network: something else on the machine may have started meanwhile.
inline constexpr Nanoseconds kProbeLife = std::chrono::minutes(5);

/// The profile on the links of a network, with the probe results from when it was applied.
class AppliedNetwork {
 public:
  /// The time of a steady clock, in nanoseconds.
  using Now = std::function<std::int64_t()>;

  explicit AppliedNetwork(Now now = now_ns) : now_(std::move(now)) {}

  /// Ensures that the profile is on the links, confirmed by a probe younger than kProbeLife. Otherwise, and if the last
  /// probe deviated, applies and probes it. Throws as shaping::Network::apply does.
  void ensure(shaping::Network& network, const experiment::NetworkProfile& profile, int interrupt_descriptor);

  /// To be called when the network was replaced, or has new links.
  void forget() { profile_.reset(); }

  /// What was found, for the record of a trial whose first batch comes now.
  experiment::NetworkEvidence evidence() const;

 private:
  /// The age of the oldest probe.
  Nanoseconds age() const;

  Now now_;
  std::optional<experiment::NetworkProfile> profile_;
  experiment::NetworkEvidence found_;
  std::int64_t found_at_ns_ = 0;
};

}  // namespace paretopipe::run
