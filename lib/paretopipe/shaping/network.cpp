#include <paretopipe/core/clock.hpp>
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

namespace {

ProbeOptions brief_probe_options(const config::NetworkProfile& profile, int interrupt_descriptor) {
  constexpr Nanoseconds kPatience = std::chrono::seconds(2);
  auto options = probe_options(profile);
  const auto round_trip = std::max<Nanoseconds>(expectation(profile).round_trip_most, std::chrono::microseconds(1));
  options.round_trips = std::clamp(static_cast<int>(kPatience / round_trip), 5, options.round_trips);
  options.interrupt_descriptor = interrupt_descriptor;
  return options;
}

}  // namespace

FoundLink probe_ways(const ProbedWays& ways, const config::NetworkProfile& asked, double payload_share,
                     int interrupt_descriptor) {
  const auto begun_at_ns = now_ns();
  const auto probe = probe_link(ways.forward, ways.backward, brief_probe_options(asked, interrupt_descriptor));
  FoundLink found;
  found.ended_at_ns = now_ns();
  found.probe = {.from = ways.from,
                 .to = ways.to,
                 .back_from = ways.back_from,
                 .back_to = ways.back_to,
                 .took_ns = found.ended_at_ns - begun_at_ns,
                 .round_trip_ns = probe.round_trip_median.count(),
                 .forward_bit_per_s = probe.forward_bit_per_s,
                 .backward_bit_per_s = probe.backward_bit_per_s};
  found.deviations = judge(asked, probe, payload_share);
  return found;
}

config::NetworkEvidence evidence_of_links(const config::NetworkProfile& asked, const std::vector<FoundLink>& links) {
  config::NetworkEvidence evidence;
  evidence.read_back = links.empty() ? asked : links.front().read_back;
  const auto reported_at_ns = now_ns();
  for (const auto& found : links) {
    auto probe = found.probe;
    probe.before_trial_ns = reported_at_ns - found.ended_at_ns;
    const bool first = evidence.probes.empty();
    for (const auto& sentence : found.deviations) {
      evidence.deviations.push_back(first ? sentence
                                          : fmt::format("link {} to {}: {}", probe.from, probe.to, sentence));
    }
    evidence.probes.push_back(probe);
  }
  if (links.empty()) return evidence;
  const auto& first = evidence.probes.front();
  evidence.round_trip_ns = first.round_trip_ns;
  evidence.forward_bit_per_s = first.forward_bit_per_s;
  evidence.backward_bit_per_s = first.backward_bit_per_s;
  return evidence;
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
