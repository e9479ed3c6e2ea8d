#pragma once
#include <paretopipe/experiment/placement.hpp>
#include <paretopipe/run/pipeline.hpp>
#include <paretopipe/shaping/network.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paretopipe::run {

/// The network between devices: the real one, and what the senders' machines do to give each link its profile. The
/// stages of a pipeline do that, so a new pipeline needs a new network. The functions throw StageError in addition to
/// what shaping::Network says.
class DeviceNetwork : public shaping::Network {
 public:
  /// `devices`: the name of each stage's device.
  DeviceNetwork(experiment::Placement placement, std::vector<std::string> devices);

  /// To be called before any of the functions below, with a pipeline that lives as long as they are called.
  void use(Pipeline& pipeline) { pipeline_ = &pipeline; }

  /// Tries the profile out on the links, takes it back, and says why they cannot have it. None if they can.
  virtual std::optional<std::string> obstacle_to(const experiment::NetworkProfile&) { return std::nullopt; }

  /// Probes every link without the profile first. The round trip found then is the real network's own, to which a
  /// profile's delay is added.
  experiment::NetworkEvidence apply(const experiment::NetworkProfile& profile, int interrupt_descriptor) final;

 protected:
  using LinkEnds = std::pair<int, int>;

  /// Gives every link the profile, or none. Returns what is known to be applied to each.
  virtual std::map<LinkEnds, experiment::NetworkProfile> shape(const experiment::NetworkProfile& profile) = 0;
  /// The share of a profile's rate that is left for tensors.
  virtual double payload_share() const = 0;
  /// Which interface of its machine a stage's kernel shapes; empty where no kernel does.
  virtual std::string interface_of(int stage) const = 0;

  Pipeline& pipeline() const { return *pipeline_; }
  experiment::NetworkProfile profile_along(const LinkEnds& link, const experiment::NetworkProfile& profile) const;
  const std::string& device_of(int stage) const { return devices_.at(static_cast<std::size_t>(stage)); }

 private:
  /// The probes of one link, and when the one with the profile took place.
  struct Measured {
    stage::LinkProbed own{};  ///< without the profile
    stage::LinkProbed probed{};
    experiment::NetworkProfile applied{};
    double bit_per_s = 0;
    std::int64_t began_at_ns = 0;
    std::int64_t ended_at_ns = 0;
  };
  using Measurements = std::map<LinkEnds, Measured>;

  Measurements measure(const experiment::NetworkProfile& profile);
  shaping::FoundLink finding(const LinkEnds& link, const Measurements& measured,
                             const experiment::NetworkProfile& profile) const;
  std::vector<std::string> deviations_of(const Measured& measured, experiment::NetworkProfile asked) const;
  LinkEnds way_back_of(const LinkEnds& link) const;

  experiment::Placement placement_;
  std::vector<std::string> devices_;
  Pipeline* pipeline_ = nullptr;
};

/// Relays beside the senders' stages shape the links (stage/relays.hpp).
std::unique_ptr<DeviceNetwork> make_relayed_network(const experiment::Placement& placement,
                                                    const std::vector<std::string>& devices);

/// The kernels of two devices with a stage each shape their interfaces, for these links alone
/// (stage/interface_lease.hpp).
std::unique_ptr<DeviceNetwork> make_leased_network(const experiment::Placement& placement,
                                                   const std::vector<std::string>& devices);

}  // namespace paretopipe::run
