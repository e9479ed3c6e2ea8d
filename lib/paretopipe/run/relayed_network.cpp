#include <paretopipe/core/clock.hpp>
#include <paretopipe/run/relayed_network.hpp>
#include <paretopipe/shaping/emulated/schedule.hpp>
#include <paretopipe/stage/link_probe.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

/// A quarter of a second at 1 Gbit/s, so that a few milliseconds more or less do not decide the rate.
constexpr std::int64_t kTellingBytes = std::int64_t{32} << 20;
/// Only the round trip is asked of a link without the profile.
constexpr stage::ProbeExtent kRoundTripsOnly{.most_bytes = 1};

/// No longer than a person would wait between two trials, where the network allows that.
stage::ProbeExtent extent_for(const experiment::NetworkProfile& profile) {
  constexpr double kPatience_s = 2;
  stage::ProbeExtent extent;
  extent.most_bytes = kTellingBytes;
  double first_transfer_s = 0;
  for (const auto* conditions : {&profile.forward, &profile.backward}) {
    const auto rate = conditions->rate_bit_per_s;
    if (rate) first_transfer_s += 8.0 * static_cast<double>(stage::kFirstTransfer) / static_cast<double>(*rate);
  }
  const double round_trip_s = 1e-9 * static_cast<double>(shaping::expectation(profile).round_trip_most.count());
  extent.round_trips = std::clamp(static_cast<int>(kPatience_s / std::max(round_trip_s, 1e-3)), 5, extent.round_trips);
  extent.patience_s += static_cast<int>(2 * (first_transfer_s + round_trip_s));
  return extent;
}

constexpr std::uint64_t kJitterSeed = 1;

/// What a transfer through a full bucket says of the rate: the bucket's bytes pass at once.
double rate_of(const stage::LinkProbed& probed, const experiment::LinkConditions& conditions) {
  auto paced = probed;
  const auto burst = conditions.rate_bit_per_s ? conditions.burst_bytes.value_or(0) : 0;
  if (burst < probed.bytes) paced.bytes -= burst;
  return paced.bit_per_s();
}

/// Sentences. The rate of the way back is that of another link, which is judged by itself.
std::vector<std::string> deviations_of(const stage::LinkProbed& own, const stage::LinkProbed& probed, double bit_per_s,
                                       experiment::NetworkProfile asked) {
  asked.backward.rate_bit_per_s.reset();
  shaping::Probe probe;
  probe.round_trip_min = Nanoseconds(probed.round_trip_min_ns - own.round_trip_min_ns);
  probe.round_trip_median = Nanoseconds(probed.round_trip_ns - own.round_trip_ns);
  probe.forward_bit_per_s = bit_per_s;
  return shaping::judge(asked, probe, 1);  // the relay counts the stream's bytes: the whole rate is payload
}

}  // namespace

RelayedNetwork::RelayedNetwork(experiment::Placement placement, std::vector<std::string> devices)
    : placement_(std::move(placement)), devices_(std::move(devices)) {}

experiment::NetworkProfile RelayedNetwork::profile_along(const LinkEnds& link,
                                                         const experiment::NetworkProfile& profile) const {
  return experiment::along(profile, experiment::way_between(placement_, link.first, link.second));
}

void RelayedNetwork::shape(const experiment::NetworkProfile& profile) {
  for (const auto& link : pipeline_->relayed_links()) {
    const auto along = profile_along(link, profile);
    const auto seed = kJitterSeed + static_cast<std::uint64_t>(link.second);
    pipeline_->ask_of<stage::RelayShaped>(
        {link.first}, std::vector<stage::ShapeRelay>{{link.second, along.forward, along.backward, seed}});
  }
}

/// The link that brings back what crossed `link`: the same two stages', or else the first that leads the other way. A
/// ring that leaves a device comes back to it, so there is one.
RelayedNetwork::LinkEnds RelayedNetwork::way_back_of(const LinkEnds& link) const {
  const auto& links = pipeline_->relayed_links();
  if (links.contains({link.second, link.first})) return {link.second, link.first};
  const auto way = experiment::way_between(placement_, link.first, link.second);
  return *std::find_if(links.begin(), links.end(), [&](const LinkEnds& other) {
    return experiment::way_between(placement_, other.first, other.second) != way;
  });
}

experiment::NetworkEvidence RelayedNetwork::apply(const experiment::NetworkProfile& profile, int) {
  tolerance_ = shaping::lateness_tolerance(profile);
  const auto measured = measure(profile);
  std::vector<shaping::FoundLink> found;
  std::vector<experiment::EmulatedLinkSite> sites;
  for (const auto& [link, measurement] : measured) {
    found.push_back(finding(link, measured, profile));
    sites.push_back({link.first, link.second, devices_.at(static_cast<std::size_t>(link.first)),
                     measurement.own.round_trip_min_ns});
  }
  auto evidence = shaping::evidence_of_links(profile, found);
  evidence.links = std::move(sites);
  return evidence;
}

RelayedNetwork::Measurements RelayedNetwork::measure(const experiment::NetworkProfile& profile) {
  Measurements measured;
  shape({});
  for (const auto& link : pipeline_->relayed_links()) {
    measured[link].own = pipeline_->probe_relay(link.first, link.second, kRoundTripsOnly);
  }
  shape(profile);
  for (auto& [link, found] : measured) {
    found.began_at_ns = now_ns();
    found.probed = pipeline_->probe_relay(link.first, link.second, extent_for(profile));
    found.ended_at_ns = now_ns();
    found.bit_per_s = rate_of(found.probed, profile_along(link, profile).forward);
  }
  return measured;
}

shaping::FoundLink RelayedNetwork::finding(const LinkEnds& link, const Measurements& measured,
                                           const experiment::NetworkProfile& profile) const {
  const auto back = way_back_of(link);
  const auto& there = measured.at(link);
  shaping::FoundLink found;
  found.probe = {.from = link.first,
                 .to = link.second,
                 .back_from = back.first,
                 .back_to = back.second,
                 .took_ns = there.ended_at_ns - there.began_at_ns,
                 .round_trip_ns = there.probed.round_trip_ns,
                 .forward_bit_per_s = there.bit_per_s,
                 .backward_bit_per_s = measured.at(back).bit_per_s};
  found.ended_at_ns = there.ended_at_ns;
  found.read_back = profile_along(link, profile);
  found.deviations = deviations_of(there.own, there.probed, there.bit_per_s, found.read_back);
  return found;
}

std::vector<int> RelayedNetwork::senders() const {
  std::vector<int> stages;
  for (const auto& [from, to] : pipeline_->relayed_links()) {
    if (stages.empty() || stages.back() != from) stages.push_back(from);  // links are in their order
  }
  return stages;
}

void RelayedNetwork::begin_trial() {
  const auto stages = senders();
  pipeline_->ask_of<stage::RelaysWatched>(
      stages, std::vector<stage::WatchRelays>(stages.size(), stage::WatchRelays{tolerance_.count()}));
}

void RelayedNetwork::end_trial(experiment::NetworkEvidence& evidence) const {
  const auto stages = senders();
  const auto replies = pipeline_->ask_of<stage::RelaysRead>(stages, std::vector<stage::ReadRelays>(stages.size()));
  shaping::LatenessMeter all(tolerance_);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (const auto& relay : replies[i].relays) {
      all.add(relay.lateness);
      const auto site = std::find_if(evidence.links.begin(), evidence.links.end(),
                                     [&](const auto& link) { return link.from == stages[i] && link.to == relay.to; });
      if (site != evidence.links.end()) site->lateness = relay.lateness.summary();
    }
  }
  evidence.lateness = all.summary();
  for (const auto& link : evidence.links) {
    if (!link.lateness) continue;
    for (const auto& sentence : shaping::judge(*link.lateness, link.emulated_on)) {
      evidence.deviations.push_back(fmt::format("link {} to {}: {}", link.from, link.to, sentence));
    }
  }
}

}  // namespace paretopipe::run
