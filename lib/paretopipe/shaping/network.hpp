#pragma once
#include <paretopipe/config/network_profile.hpp>
#include <paretopipe/config/placement.hpp>
#include <paretopipe/shaping/probe/endpoint.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace paretopipe::shaping {

/// What lies between the stages of a pipeline, for as long as it lives: stages come and go on it, profiles replace one
/// another. Every stage is joined to the next one by a link of its own, all of one profile; the results travel back
/// from the last stage to the first, over a link whose `backward` conditions they meet. Where a pipeline asks for them,
/// there are also links from the first stage to each of the others and back, of the same kind; the kernel's networks
/// have them for two stages only. Where stages are placed otherwise than each on a device of its own, a link that leads
/// back towards the source (config::Way) meets the `backward` conditions, and nothing shapes a link between two stages
/// of one device. One thread at a time. Every
/// function throws EnvironmentError for what this machine refuses.
class Network {
 public:
  virtual ~Network() = default;

  /// Namespaces that the process of `stage` has to enter (launch::ChildCommand::namespaces). Borrowed.
  virtual std::vector<int> namespaces(int stage) const;

  /// The address at which `stage` has to listen.
  virtual std::string address(int stage) const;

  /// Where `from` has to connect to, in order to reach `to`, which listens at `port` of its address already.
  virtual Endpoint route(int from, int to, std::uint16_t port);

  /// Puts `profile` on the links, whose connections stay; reads back what was applied; and measures it over the very
  /// links, each way that tensors take, which takes seconds on a slow one and needs them idle. Of every probe it says
  /// how long before this function's end it ended. Throws UsageError for a
  /// profile that this kind of network cannot do, and Interrupted as soon as `interrupt_descriptor` (-1: nobody can
  /// interrupt) is readable; the profile is then on the links or not, and has to be applied again.
  virtual config::NetworkEvidence apply(const config::NetworkProfile& profile, int interrupt_descriptor);

  /// Around every trial. The end adds to what apply() returned how the links behaved meanwhile: how late they handed on
  /// what passed them, and a sentence if that touched the trial. Nothing where it is the kernel that keeps time.
  virtual void begin_trial();
  virtual void end_trial(config::NetworkEvidence& evidence) const;
};

/// For `stages` stages on these devices. `none`: this host's loopback, which can do the unshaped profile only.
std::unique_ptr<Network> make_network(config::Shaping kind, int stages, const config::Placement& placement = {});

}  // namespace paretopipe::shaping
