#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/network.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "networks.hpp"

namespace paretopipe::shaping {

std::vector<int> Network::namespaces(int) const {
  return {};
}

std::string Network::address(int) const {
  return kLoopback;
}

Endpoint Network::route(int, int, std::uint16_t port) {
  return {kLoopback, port};
}

config::NetworkEvidence Network::apply(const config::NetworkProfile& profile, int) {
  if (profile.shaped()) {
    throw UsageError(fmt::format("the network {} cannot be had without shaping", profile.name));
  }
  config::NetworkEvidence evidence;
  evidence.read_back = profile;
  return evidence;
}

void Network::begin_trial() {}

void Network::end_trial(config::NetworkEvidence&) const {}

config::NetworkEvidence evidence_of(const config::NetworkProfile& asked, const config::NetworkProfile& read_back,
                                    const Probe& probe, double payload_share) {
  return {.read_back = read_back,
          .round_trip_ns = probe.round_trip_median.count(),
          .forward_bit_per_s = probe.forward_bit_per_s,
          .backward_bit_per_s = probe.backward_bit_per_s,
          .lateness = {},
          .deviations = judge(asked, probe, payload_share)};
}

config::NetworkEvidence evidence_of_links(const config::NetworkProfile& asked, std::vector<FoundLink> links) {
  config::NetworkEvidence evidence;
  evidence.read_back = asked;
  if (links.empty()) return evidence;
  evidence = std::move(links.front().evidence);
  for (std::size_t i = 1; i < links.size(); ++i) {
    const auto& [from, found] = links[i];
    for (const auto& sentence : found.deviations) {
      evidence.deviations.push_back(fmt::format("link {} to {}: {}", from, from + 1, sentence));
    }
  }
  return evidence;
}

ProbeOptions brief_probe_options(const config::NetworkProfile& profile, int interrupt_descriptor) {
  constexpr Nanoseconds kPatience = std::chrono::seconds(2);
  auto options = probe_options(profile);
  const auto round_trip = std::max<Nanoseconds>(expectation(profile).round_trip_most, std::chrono::microseconds(1));
  options.round_trips = std::clamp(static_cast<int>(kPatience / round_trip), 5, options.round_trips);
  options.interrupt_descriptor = interrupt_descriptor;
  return options;
}

std::unique_ptr<Network> make_network(config::Shaping kind, int stages, const config::Placement& placement) {
  switch (kind) {
    case config::Shaping::none:
      return std::make_unique<Network>();
    case config::Shaping::netem:
      return make_netem_network(stages, placement);
    case config::Shaping::emulated:
      return make_emulated_network(stages, placement);
  }
  throw std::logic_error("an unknown kind of shaping");
}

}  // namespace paretopipe::shaping
