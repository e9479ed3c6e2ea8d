#pragma once
#include <paretopipe/shaping/network.hpp>
#include <paretopipe/shaping/probe/probe.hpp>

namespace paretopipe::shaping {

inline constexpr const char* kLoopback = "127.0.0.1";

std::unique_ptr<Network> make_netem_network(int stages, const config::Placement& placement);
std::unique_ptr<Network> make_emulated_network(int stages, const config::Placement& placement);

/// The findings of one probe.
struct FoundLink {
  config::LinkProbe probe{};     ///< without its distance to a trial
  std::int64_t ended_at_ns = 0;  ///< the end of the probe, by the steady clock
  config::NetworkProfile read_back{};
  std::vector<std::string> deviations{};  ///< sentences
};

/// A way there, a way back, and their links.
struct ProbedWays {
  int from = 0;
  int to = 0;
  int back_from = 0;
  int back_to = 0;
  OneWay forward{};
  OneWay backward{};
};

/// Probes two ways that should match `asked`, as long as necessary, but no longer than a person would wait between two
/// trials. `payload_share`: of the rate. Leaves `read_back` to the caller.
FoundLink probe_ways(const ProbedWays& ways, const config::NetworkProfile& asked, double payload_share,
                     int interrupt_descriptor);

/// The result of apply() after the last probe. All links from stage to stage have one profile: the numbers are those of
/// the first link, which leads away from the source, and the deviations are those of every link. Contains `asked` if
/// there is no link.
config::NetworkEvidence evidence_of_links(const config::NetworkProfile& asked, const std::vector<FoundLink>& links);

}  // namespace paretopipe::shaping
