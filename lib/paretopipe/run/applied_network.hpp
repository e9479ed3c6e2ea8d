#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/shaping/network.hpp>

#include <cstdint>
#include <functional>
#include <optional>

namespace paretopipe::run {

/// What a probe found is taken for true that long. Then the links are probed again, also between two trials over the
/// same network: something else on the machine may have begun meanwhile.
inline constexpr Nanoseconds kProbeLife = std::chrono::minutes(5);

/// The profile that is on the links of a network, with what was found there when it was put on.
class AppliedNetwork {
 public:
  /// Tells nanoseconds of a steady clock.
  using Now = std::function<std::int64_t()>;

  explicit AppliedNetwork(Now now = now_ns) : now_(std::move(now)) {}

  /// Makes sure that the profile is on the links and that a probe younger than kProbeLife found it there. Otherwise,
  /// and where the last probe deviated, applies and probes it. Throws as shaping::Network::apply does.
  void ensure(shaping::Network& network, const config::NetworkProfile& profile, int interrupt_descriptor);

  /// There is another network now.
  void forget() { profile_.reset(); }

  /// What was found, for the record of a trial whose first batch comes now.
  config::NetworkEvidence evidence() const;

 private:
  /// Of the oldest probe.
  Nanoseconds age() const;

  Now now_;
  std::optional<config::NetworkProfile> profile_;
  config::NetworkEvidence found_;
  std::int64_t found_at_ns_ = 0;
};

}  // namespace paretopipe::run
