#include <paretopipe/run/applied_network.hpp>

#include <algorithm>

namespace paretopipe::run {

void AppliedNetwork::ensure(shaping::Network& network, const experiment::NetworkProfile& profile,
                            int interrupt_descriptor) {
  if (profile_ == profile && found_.deviations.empty() && age() < kProbeLife) return;
  profile_.reset();
  found_ = network.apply(profile, interrupt_descriptor);
  found_at_ns_ = now_();
  profile_ = profile;
}

experiment::NetworkEvidence AppliedNetwork::evidence() const {
  auto evidence = found_;
  const auto since_ns = now_() - found_at_ns_;
  for (auto& probe : evidence.probes) probe.before_trial_ns += since_ns;
  return evidence;
}

Nanoseconds AppliedNetwork::age() const {
  std::int64_t oldest_ns = 0;
  for (const auto& probe : found_.probes) oldest_ns = std::max(oldest_ns, probe.before_trial_ns);
  return Nanoseconds(now_() - found_at_ns_ + oldest_ns);
}

}  // namespace paretopipe::run
