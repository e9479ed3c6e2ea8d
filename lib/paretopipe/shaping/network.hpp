#pragma once
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/experiment/placement.hpp>
#include <paretopipe/shaping/probe/probe.hpp>
#include <paretopipe/shaping/probe/remote_probe.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace paretopipe::shaping {

/// The network between the stages of a pipeline. Stages come and go on it, and profiles replace one another. Every
/// stage has a link of its own to the next one, all of one profile. The results travel back from the last stage to the
/// first over a link with the `backward` conditions. If a pipeline requests them, there are also links back from each
/// stage to the previous one, for gradients, and links from the first stage to each of the others and back; the
/// kernel's networks have the latter for two stages only. If stages share devices, a link that leads back towards the
/// source (experiment::Way) has the `backward` conditions, and nothing shapes a link between two stages of one device.
/// Not thread-safe. Every function throws EnvironmentError for what this machine refuses.
class Network {
 public:
  virtual ~Network() = default;

  /// Namespaces that the process of `stage` has to enter (launch::ChildCommand::namespaces). Borrowed.
  virtual std::vector<int> namespaces(int stage) const;

  /// The address at which `to` has to listen for `from`.
  virtual std::string address(int from, int to) const;

  /// The endpoint that `from` has to connect to in order to reach `to`, which already listens for it at `port`.
  /// A link that was not there before has the conditions of the next apply().
  virtual Endpoint route(int from, int to, std::uint16_t port);

  /// Puts `profile` on the links, whose connections stay, reads back what was applied, and measures the links in each
  /// direction that tensors take. Measuring takes seconds on a slow link and needs idle links. The result says for
  /// every probe how long before this function's end it ended. Throws UsageError for a profile that this kind of
  /// network cannot do, and Interrupted as soon as `interrupt_descriptor` (-1: nobody can interrupt) is readable; the
  /// profile's state is then undefined, and it has to be applied again.
  virtual experiment::NetworkEvidence apply(const experiment::NetworkProfile& profile, int interrupt_descriptor);

  /// To be called around every trial. The end adds to apply()'s result how the links behaved meanwhile: the lateness of
  /// what they passed on, and a sentence if that affected the trial. Adds nothing if the kernel keeps the time.
  virtual void begin_trial();
  virtual void end_trial(experiment::NetworkEvidence& evidence) const;
};

/// For `stages` stages on these devices. `none`: this host's loopback, which can do only the unshaped profile.
std::unique_ptr<Network> make_network(experiment::Shaping kind, int stages,
                                      const experiment::Placement& placement = {});

inline constexpr const char* kLoopback = "127.0.0.1";

std::unique_ptr<Network> make_netem_network(int stages, const experiment::Placement& placement);
std::unique_ptr<Network> make_emulated_network(int stages, const experiment::Placement& placement);

/// The findings of one probe.
struct FoundLink {
  experiment::LinkProbe probe{};  ///< without its distance to a trial
  std::int64_t ended_at_ns = 0;   ///< the end of the probe, by the steady clock
  experiment::NetworkProfile read_back{};
  std::vector<std::string> deviations{};  ///< sentences
};

/// A way there and a way back, and the stages at their ends.
struct ProbedWays {
  int from = 0;
  int to = 0;
  int back_from = 0;
  int back_to = 0;
  OneWay forward{};
  OneWay backward{};
};

/// Probes two ways that should match `asked`. Takes as long as necessary, but no longer than a person would wait
/// between two trials. `payload_share`: the share of the rate that is payload. Leaves `read_back` to the caller.
FoundLink probe_ways(const ProbedWays& ways, const experiment::NetworkProfile& asked, double payload_share,
                     int interrupt_descriptor);

/// The result of apply() after the last probe. All links from stage to stage have one profile: the numbers are those of
/// the first link, which leads away from the source, and the deviations are those of every link. Contains `asked` if
/// there is no link.
experiment::NetworkEvidence evidence_of_links(const experiment::NetworkProfile& asked,
                                              const std::vector<FoundLink>& links);

}  // namespace paretopipe::shaping
