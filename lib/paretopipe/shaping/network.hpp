#pragma once
#include <paretopipe/config/network_profile.hpp>
#include <paretopipe/config/placement.hpp>
#include <paretopipe/shaping/probe/endpoint.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace paretopipe::shaping {

/// The network between the stages of a pipeline. Stages come and go on it, and profiles replace one another. Every
/// stage has a link of its own to the next one, all of one profile. The results travel back from the last stage to the
/// first over a link with the `backward` conditions. If a pipeline requests them, there are also links of the same kind
/// from the first stage to each of the others and back; the kernel's networks have them for two stages only. If stages
/// share devices, a link that leads back towards the source (config::Way) has the `backward` conditions, and nothing
/// shapes a link between two stages of one device. Not thread-safe. Every function throws EnvironmentError for what
/// this machine refuses.
class Network {
 public:
  virtual ~Network() = default;

  /// Namespaces that the process of `stage` has to enter (launch::ChildCommand::namespaces). Borrowed.
  virtual std::vector<int> namespaces(int stage) const;

  /// The address at which `stage` has to listen.
  virtual std::string address(int stage) const;

  /// The endpoint that `from` has to connect to in order to reach `to`, which already listens at `port` of its address.
  virtual Endpoint route(int from, int to, std::uint16_t port);

  /// Puts `profile` on the links, whose connections stay, reads back what was applied, and measures the links in each
  /// direction that tensors take. Measuring takes seconds on a slow link and needs idle links. The result says for
  /// every probe how long before this function's end it ended. Throws UsageError for a profile that this kind of
  /// network cannot do, and Interrupted as soon as `interrupt_descriptor` (-1: nobody can interrupt) is readable; the
  /// profile's state is then undefined, and it has to be applied again.
  virtual config::NetworkEvidence apply(const config::NetworkProfile& profile, int interrupt_descriptor);

  /// To be called around every trial. The end adds to apply()'s result how the links behaved meanwhile: the lateness of
  /// what they passed on, and a sentence if that affected the trial. Adds nothing if the kernel keeps the time.
  virtual void begin_trial();
  virtual void end_trial(config::NetworkEvidence& evidence) const;
};

/// For `stages` stages on these devices. `none`: this host's loopback, which can do only the unshaped profile.
std::unique_ptr<Network> make_network(config::Shaping kind, int stages, const config::Placement& placement = {});

}  // namespace paretopipe::shaping
