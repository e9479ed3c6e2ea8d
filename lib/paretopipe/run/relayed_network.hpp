#pragma once
#include <paretopipe/experiment/placement.hpp>
#include <paretopipe/run/pipeline.hpp>
#include <paretopipe/shaping/network.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace paretopipe::run {

/// The network between devices, where each link gets its profile from a relay on the sender's machine
/// (stage/relays.hpp), in addition to what the real network between the two does. The relays belong to the stages of a
/// pipeline: a new pipeline needs a new network. Beside what shaping::Network says, the functions throw StageError.
class RelayedNetwork final : public shaping::Network {
 public:
  /// `devices`: the name of each stage's.
  RelayedNetwork(experiment::Placement placement, std::vector<std::string> devices);

  /// To be called before any of the functions below, with a pipeline that lives as long as they are called.
  void use(Pipeline& pipeline) { pipeline_ = &pipeline; }

  /// Probes every link without the profile first. What it finds then is the real network's and belongs to the
  /// expectation: a profile's delay is added to the link's own.
  experiment::NetworkEvidence apply(const experiment::NetworkProfile& profile, int interrupt_descriptor) override;

  void begin_trial() override;
  void end_trial(experiment::NetworkEvidence& evidence) const override;

 private:
  using LinkEnds = std::pair<int, int>;

  /// The probes of one link, and when the one with the profile took place.
  struct Measured {
    stage::LinkProbed own{};  ///< without the profile
    stage::LinkProbed probed{};
    double bit_per_s = 0;
    std::int64_t began_at_ns = 0;
    std::int64_t ended_at_ns = 0;
  };
  using Measurements = std::map<LinkEnds, Measured>;

  void shape(const experiment::NetworkProfile& profile);
  experiment::NetworkProfile profile_along(const LinkEnds& link, const experiment::NetworkProfile& profile) const;
  Measurements measure(const experiment::NetworkProfile& profile);
  shaping::FoundLink finding(const LinkEnds& link, const Measurements& measured,
                             const experiment::NetworkProfile& profile) const;
  LinkEnds way_back_of(const LinkEnds& link) const;
  std::vector<int> senders() const;

  experiment::Placement placement_;
  std::vector<std::string> devices_;
  Pipeline* pipeline_ = nullptr;
  Nanoseconds tolerance_{0};
};

}  // namespace paretopipe::run
