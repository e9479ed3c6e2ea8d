#pragma once
#include <paretopipe/shaping/network.hpp>
#include <paretopipe/shaping/probe/probe.hpp>

namespace paretopipe::shaping {

inline constexpr const char* kLoopback = "127.0.0.1";

std::unique_ptr<Network> make_netem_network(int stages, const config::Placement& placement);
std::unique_ptr<Network> make_emulated_network(int stages, const config::Placement& placement);

/// What apply() reports: the probe's numbers, and the sentences of both comparisons. `payload_share`: of the rate.
config::NetworkEvidence evidence_of(const config::NetworkProfile& asked, const config::NetworkProfile& read_back,
                                    const Probe& probe, double payload_share);

/// What was found on the link from stage `from` to the next one.
struct FoundLink {
  int from = 0;
  config::NetworkEvidence evidence{};
};

/// Of all the links from stage to stage, which are of one profile, the first one's numbers stand for all, and the
/// deviations are those of every link. That one leads away from the source. `asked` if there is none.
config::NetworkEvidence evidence_of_links(const config::NetworkProfile& asked, std::vector<FoundLink> links);

/// As much probing as a link of this profile needs, but no more than a person would wait for between two trials.
ProbeOptions brief_probe_options(const config::NetworkProfile& profile, int interrupt_descriptor);

}  // namespace paretopipe::shaping
