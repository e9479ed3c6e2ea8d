#include <paretopipe/run/device_network.hpp>
#include <paretopipe/shaping/emulated/schedule.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

constexpr std::uint64_t kJitterSeed = 1;

class RelayedNetwork final : public DeviceNetwork {
 public:
  using DeviceNetwork::DeviceNetwork;

  void begin_trial() override;
  void end_trial(experiment::NetworkEvidence& evidence) const override;

 private:
  std::map<LinkEnds, experiment::NetworkProfile> shape(const experiment::NetworkProfile& profile) override;
  double payload_share() const override { return 1; }  // a relay counts the stream's bytes
  std::string interface_of(int) const override { return {}; }
  std::vector<int> senders() const;

  Nanoseconds tolerance_{0};
};

std::map<RelayedNetwork::LinkEnds, experiment::NetworkProfile> RelayedNetwork::shape(
    const experiment::NetworkProfile& profile) {
  tolerance_ = shaping::lateness_tolerance(profile);
  std::map<LinkEnds, experiment::NetworkProfile> applied;
  for (const auto& [link, ports] : pipeline().links_between_devices()) {
    const auto along = profile_along(link, profile);
    const auto seed = kJitterSeed + static_cast<std::uint64_t>(link.second);
    pipeline().ask_one<stage::RelayShaped>(link.first,
                                           stage::ShapeRelay{link.second, along.forward, along.backward, seed});
    applied.emplace(link, along);
  }
  return applied;
}

std::vector<int> RelayedNetwork::senders() const {
  std::vector<int> stages;
  for (const auto& [link, ports] : pipeline().links_between_devices()) {
    if (stages.empty() || stages.back() != link.first) stages.push_back(link.first);  // links are in their order
  }
  return stages;
}

void RelayedNetwork::begin_trial() {
  const auto stages = senders();
  pipeline().ask_of<stage::RelaysWatched>(
      stages, std::vector<stage::WatchRelays>(stages.size(), stage::WatchRelays{tolerance_.count()}));
}

void RelayedNetwork::end_trial(experiment::NetworkEvidence& evidence) const {
  const auto stages = senders();
  const auto replies = pipeline().ask_of<stage::RelaysRead>(stages, std::vector<stage::ReadRelays>(stages.size()));
  shaping::LatenessMeter all(tolerance_);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (const auto& relay : replies[i].relays) {
      all.add(relay.lateness);
      const auto site = std::find_if(evidence.links.begin(), evidence.links.end(),
                                     [&](const auto& link) { return link.from == stages[i] && link.to == relay.to; });
      if (site != evidence.links.end()) site->lateness = relay.lateness.summary();
    }
  }
  evidence.lateness = all.summary();
  for (const auto& link : evidence.links) {
    if (!link.lateness) continue;
    for (const auto& sentence : shaping::judge(*link.lateness, link.emulated_on)) {
      evidence.deviations.push_back(fmt::format("link {} to {}: {}", link.from, link.to, sentence));
    }
  }
}

}  // namespace

std::unique_ptr<DeviceNetwork> make_relayed_network(const experiment::Placement& placement,
                                                    const std::vector<std::string>& devices) {
  return std::make_unique<RelayedNetwork>(placement, devices);
}

}  // namespace paretopipe::run
