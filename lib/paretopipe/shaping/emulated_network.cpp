#include <paretopipe/shaping/emulated/link.hpp>
#include <paretopipe/wire/link.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <deque>
#include <map>

#include "networks.hpp"

namespace paretopipe::shaping {
namespace {

/// The relay counts the stream's bytes: the whole rate is payload.
constexpr double kPayloadShare = 1;
constexpr std::uint64_t kJitterSeed = 1;

/// Both ends of a connection, in this process.
struct Ends {
  wire::Link near;
  wire::Link far;
};

OneWay way_over(const Ends& ends) {
  return {ends.near.native_handle(), ends.far.native_handle()};
}

/// Connects through `link`, which must not delay: the greeting travels over it too, and nobody can interrupt that.
Ends connect_through(EmulatedLink& link) {
  constexpr std::uint64_t kToken = 0x70726f6265;
  wire::Listener listener(kLoopback, 0);
  link.lead_to(kLoopback, listener.port());
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  auto near = wire::connect_peer(kLoopback, link.port(), kToken, deadline);
  auto far = wire::accept_peer(listener, kToken, deadline);
  return {std::move(near), std::move(far)};
}

/// A relay before each stage that the previous one reaches over the network. Each carries one direction of tensors: on
/// to the next stage (the profile's forward), or back towards the source, like the relay before the first stage.
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
    const auto ends = connect_through_all();
    for (int stage = 1; stage < stage_count(); ++stage) set_conditions(stage, config::along(profile, way_to(stage)));
    set_conditions(0, config::along(profile, config::Way::backward));
    std::vector<FoundLink> found;
    for (int stage = 1; stage < stage_count(); ++stage) {
      const auto there = ends.find(stage);
      if (there == ends.end()) continue;
      auto asked = config::along(profile, way_to(stage));
      ProbedWays ways{stage - 1, stage, stage, stage - 1, way_over(there->second), {}};
      ways.backward = {ways.forward.to, ways.forward.from};
      if (const auto back = ends.find(0); back != ends.end()) {
        asked.backward = profile.backward;
        ways.back_from = stage_count() - 1;
        ways.back_to = 0;
        ways.backward = way_over(back->second);
      }
      found.push_back(probe_ways(ways, asked, kPayloadShare, interrupt_descriptor));
      found.back().read_back = asked;
    }
    return evidence_of_links(profile, found);
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

  /// The direction of the link from the previous stage.
  config::Way way_to(int stage) const {
    const int stages = stage_count();
    return config::way_between(placement_, (stage + stages - 1) % stages, stage);
  }

  void set_conditions(int stage, const config::NetworkProfile& profile) {
    towards(stage).set_conditions(profile.forward, profile.backward, seed_of(stage));
  }

  /// Makes a connection over each link that leads to another device, by the stage at its end. Removes the conditions
  /// from all links.
  std::map<int, Ends> connect_through_all() {
    std::map<int, Ends> ends;
    for (int stage = 0; stage < stage_count(); ++stage) {
      set_conditions(stage, {});
      if (way_to(stage) != config::Way::within) ends.emplace(stage, connect_through(towards(stage)));
    }
    return ends;
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
