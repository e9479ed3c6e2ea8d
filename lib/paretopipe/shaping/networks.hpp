#pragma once
#include <paretopipe/shaping/network.hpp>
#include <paretopipe/shaping/probe/probe.hpp>

namespace paretopipe::shaping {

inline constexpr const char* kLoopback = "127.0.0.1";

std::unique_ptr<Network> make_netem_network(int stages, const config::Placement& placement);
std::unique_ptr<Network> make_emulated_network(int stages, const config::Placement& placement);

/// What one probe found.
struct FoundLink {
  config::LinkProbe probe{};     ///< but for its distance to a trial
  std::int64_t ended_at_ns = 0;  ///< the probe, by the steady clock
  config::NetworkProfile read_back{};
  std::vector<std::string> deviations{};  ///< sentences
};

/// A way there and a way back, and the links that they lead over.
struct ProbedWays {
  int from = 0;
  int to = 0;
  int back_from = 0;
  int back_to = 0;
  OneWay forward{};
  OneWay backward{};
};

/// Probes two ways that are to be as `asked` says, as much as needs be, but no longer than a person would wait between
/// two trials. `payload_share`: of the rate. What is read back is left to the caller.
FoundLink probe_ways(const ProbedWays& ways, const config::NetworkProfile& asked, double payload_share,
                     int interrupt_descriptor);

/// What apply() reports when the last probe has ended. Of the links from stage to stage, which are of one profile, the
/// first one's numbers stand for all, and the deviations are those of every link. That one leads away from the source.
/// `asked` if there is none.
config::NetworkEvidence evidence_of_links(const config::NetworkProfile& asked, const std::vector<FoundLink>& links);

}  // namespace paretopipe::shaping
