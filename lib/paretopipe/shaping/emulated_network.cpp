#include <paretopipe/shaping/emulated/link.hpp>
#include <paretopipe/wire/link.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <array>

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

/// A relay before each stage. Each carries one direction of tensors: to stage 1 (the profile's forward), and back.
class EmulatedNetwork final : public Network {
 public:
  Endpoint route(int, int to, std::uint16_t port) override {
    auto& link = towards(to);
    link.lead_to(kLoopback, port);
    return {kLoopback, link.port()};
  }

  config::NetworkEvidence apply(const config::NetworkProfile& profile, int interrupt_descriptor) override {
    towards(1).set_conditions({}, {}, kJitterSeed);
    const auto [near, far] = connect_through(towards(1));
    towards(1).set_conditions(profile.forward, profile.backward, kJitterSeed);
    towards(0).set_conditions(profile.backward, profile.forward, kJitterSeed + 1);
    tolerance_ = lateness_tolerance(profile);
    const auto options = brief_probe_options(profile, interrupt_descriptor);
    const auto probe = probe_link(near.native_handle(), far.native_handle(), options);
    return evidence_of(profile, profile, probe, kPayloadShare);
  }

  void begin_trial() override {
    for (auto& link : links_) link.watch_lateness(tolerance_);
  }

  void end_trial(config::NetworkEvidence& evidence) const override {
    LatenessMeter both(tolerance_);
    for (const auto& link : links_) both.add(link.lateness());
    evidence.lateness = both.summary();
    if (!evidence.lateness) return;
    for (auto& sentence : judge(*evidence.lateness)) evidence.deviations.push_back(std::move(sentence));
  }

 private:
  EmulatedLink& towards(int stage) { return links_.at(static_cast<std::size_t>(stage)); }

  std::array<EmulatedLink, kStages> links_{EmulatedLink{kLoopback, {}, {}, kJitterSeed},
                                           EmulatedLink{kLoopback, {}, {}, kJitterSeed}};
  Nanoseconds tolerance_ = lateness_tolerance({});
};

}  // namespace

std::unique_ptr<Network> make_emulated_network() {
  return std::make_unique<EmulatedNetwork>();
}

}  // namespace paretopipe::shaping
