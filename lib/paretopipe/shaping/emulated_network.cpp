#include <paretopipe/shaping/emulated/link.hpp>
#include <paretopipe/wire/link.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <deque>

#include "networks.hpp"

namespace paretopipe::shaping {
namespace {

/// The relay counts the stream's bytes: all of the rate is payload.
constexpr double kPayloadShare = 1;
constexpr std::uint64_t kJitterSeed = 1;

/// Both ends of a connection through `link`, in this process. `link` must not delay: the greeting travels over it, too,
/// and nobody can interrupt that.
std::pair<wire::Link, wire::Link> connect_through(EmulatedLink& link) {
  constexpr std::uint64_t kToken = 0x70726f6265;
  wire::Listener listener(kLoopback, 0);
  link.lead_to(kLoopback, listener.port());
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  auto near = wire::connect_peer(kLoopback, link.port(), kToken, deadline);
  auto far = wire::accept_peer(listener, kToken, deadline);
  return {std::move(near), std::move(far)};
}

/// A relay before each stage that the one before it reaches over the network. Each carries one direction of tensors: on
/// to the next stage (the profile's forward), or back towards the source, as the one before the first stage does.
class EmulatedNetwork final : public Network {
 public:
  EmulatedNetwork(int stages, config::Placement placement) : placement_(std::move(placement)) {
    for (int stage = 0; stage < stages; ++stage) {
      links_.emplace_back(kLoopback, config::LinkConditions{}, config::LinkConditions{}, seed_of(stage));
    }
  }

  Endpoint route(int from, int to, std::uint16_t port) override {
    if (config::way_between(placement_, from, to) == config::Way::within) return Network::route(from, to, port);
    auto& link = towards(to);
    link.lead_to(kLoopback, port);
    return {kLoopback, link.port()};
  }

  config::NetworkEvidence apply(const config::NetworkProfile& profile, int interrupt_descriptor) override {
    tolerance_ = lateness_tolerance(profile);
    const auto options = brief_probe_options(profile, interrupt_descriptor);
    std::vector<FoundLink> found;
    for (int stage = 1; stage < stage_count(); ++stage) {
      const auto way = config::way_between(placement_, stage - 1, stage);
      if (way == config::Way::within) continue;
      found.push_back({stage - 1, apply_towards(stage, config::along(profile, way), options)});
    }
    towards(0).set_conditions(profile.backward, profile.forward, seed_of(0));
    return evidence_of_links(profile, std::move(found));
  }

  void begin_trial() override {
    for (auto& link : links_) link.watch_lateness(tolerance_);
  }

  void end_trial(config::NetworkEvidence& evidence) const override {
    LatenessMeter all(tolerance_);
    for (const auto& link : links_) all.add(link.lateness());
    evidence.lateness = all.summary();
    if (!evidence.lateness) return;
    for (auto& sentence : judge(*evidence.lateness)) evidence.deviations.push_back(std::move(sentence));
  }

 private:
  static std::uint64_t seed_of(int stage) { return kJitterSeed + static_cast<std::uint64_t>(stage); }
  int stage_count() const { return static_cast<int>(links_.size()); }
  EmulatedLink& towards(int stage) { return links_.at(static_cast<std::size_t>(stage)); }

  /// The profile on the link from the stage before, and what a probe finds there.
  config::NetworkEvidence apply_towards(int stage, const config::NetworkProfile& profile, const ProbeOptions& options) {
    auto& link = towards(stage);
    link.set_conditions({}, {}, seed_of(stage));
    const auto [near, far] = connect_through(link);
    link.set_conditions(profile.forward, profile.backward, seed_of(stage));
    const auto probe = probe_link(near.native_handle(), far.native_handle(), options);
    return evidence_of(profile, profile, probe, kPayloadShare);
  }

  config::Placement placement_;
  std::deque<EmulatedLink> links_;  // a link does not move
  Nanoseconds tolerance_ = lateness_tolerance({});
};

}  // namespace

std::unique_ptr<Network> make_emulated_network(int stages, const config::Placement& placement) {
  return std::make_unique<EmulatedNetwork>(stages, placement);
}

}  // namespace paretopipe::shaping
