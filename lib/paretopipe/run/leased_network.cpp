#include <paretopipe/run/device_network.hpp>
#include <paretopipe/shaping/emulated/schedule.hpp>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

class LeasedNetwork final : public DeviceNetwork {
 public:
  using DeviceNetwork::DeviceNetwork;

  std::optional<std::string> obstacle_to(const experiment::NetworkProfile& profile) override;
  void end_trial(experiment::NetworkEvidence& evidence) const override;

 private:
  using Leases = std::map<int, stage::InterfaceLeased>;  ///< by stage

  std::map<LinkEnds, experiment::NetworkProfile> shape(const experiment::NetworkProfile& profile) override;
  double payload_share() const override { return shaping::kTcpPayloadShare; }
  std::string interface_of(int stage) const override { return leases_.at(stage).interface; }
  std::map<int, stage::LeaseInterface> requests(const experiment::NetworkProfile& profile) const;
  void take(const experiment::NetworkProfile& profile);

  Leases leases_;
};

/// An interface sends its stage's data, and the acknowledgements of what its stage receives.
std::map<int, stage::LeaseInterface> LeasedNetwork::requests(const experiment::NetworkProfile& profile) const {
  const auto& links = pipeline().links_between_devices();
  std::vector<std::uint16_t> ports;
  for (const auto& [link, endpoints] : links) {
    for (const auto& endpoint : endpoints) ports.push_back(endpoint.port);
  }
  std::map<int, stage::LeaseInterface> result;
  for (const auto& [link, endpoints] : links) {
    result[link.first] = {endpoints.front().host, ports, profile_along(link, profile).forward};
  }
  return result;
}

/// What else a person can do, if relays can emulate the profile.
std::string advice(const experiment::NetworkProfile& profile) {
  for (const auto* conditions : {&profile.forward, &profile.backward}) {
    if (!shaping::unsupported(*conditions).empty()) return {};
  }
  return "; or leave the interface as it is: with --shaping emulated relays do it, above the real network and without "
         "any right";
}

void LeasedNetwork::take(const experiment::NetworkProfile& profile) {
  for (const auto& [stage, request] : requests(profile)) leases_[stage] = pipeline().lease_interface(stage, request);
}

std::optional<std::string> LeasedNetwork::obstacle_to(const experiment::NetworkProfile& profile) {
  std::optional<std::string> obstacle;
  try {
    take(profile);
  } catch (const StageError& error) {
    if (error.kind() != StageError::Kind::refused) throw;
    obstacle = error.what();
  }
  take({});
  return obstacle;
}

std::map<LeasedNetwork::LinkEnds, experiment::NetworkProfile> LeasedNetwork::shape(
    const experiment::NetworkProfile& profile) {
  try {
    take(profile);
  } catch (const StageError& error) {
    if (error.kind() != StageError::Kind::refused) throw;
    throw StageError(error.stage(), error.kind(), error.code(), fmt::format("{}{}", error.what(), advice(profile)));
  }
  std::map<LinkEnds, experiment::NetworkProfile> applied;
  for (const auto& [link, endpoints] : pipeline().links_between_devices()) {
    applied[link] = {profile.name, leases_.at(link.first).read_back, leases_.at(link.second).read_back};
  }
  return applied;
}

void LeasedNetwork::end_trial(experiment::NetworkEvidence& evidence) const {
  for (const auto& [stage, lease] : leases_) {
    const auto now = pipeline().ask_one<stage::InterfaceLeased>(stage, stage::ReadLease{});
    if (now == lease) continue;
    evidence.deviations.push_back(fmt::format("stage {}: somebody changed what shapes {} on {} during the trial", stage,
                                              lease.interface, device_of(stage)));
  }
}

}  // namespace

std::unique_ptr<DeviceNetwork> make_leased_network(const experiment::Placement& placement,
                                                   const std::vector<std::string>& devices) {
  return std::make_unique<LeasedNetwork>(placement, devices);
}

}  // namespace paretopipe::run
