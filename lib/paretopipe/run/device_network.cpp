#include <paretopipe/core/clock.hpp>
#include <paretopipe/run/device_network.hpp>
#include <paretopipe/stage/link_probe.hpp>

#include <algorithm>

namespace paretopipe::run {

namespace {

/// A quarter of a second at 1 Gbit/s, so that a few milliseconds more or less do not decide the rate.
constexpr std::int64_t kTellingBytes = std::int64_t{32} << 20;
/// A link without the profile is only asked for its round trip.
constexpr stage::ProbeExtent kRoundTripsOnly{.most_bytes = 1};

/// A probe takes no longer than a person would wait between two trials, where the network allows that.
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

/// The rate that a transfer through a full bucket shows. The bucket's bytes pass at once and do not count.
double rate_of(const stage::LinkProbed& probed, const experiment::LinkConditions& conditions) {
  auto paced = probed;
  const auto burst = conditions.rate_bit_per_s ? conditions.burst_bytes.value_or(0) : 0;
  if (burst < probed.bytes) paced.bytes -= burst;
  return paced.bit_per_s();
}

}  // namespace

DeviceNetwork::DeviceNetwork(experiment::Placement placement, std::vector<std::string> devices)
    : placement_(std::move(placement)), devices_(std::move(devices)) {}

experiment::NetworkProfile DeviceNetwork::profile_along(const LinkEnds& link,
                                                        const experiment::NetworkProfile& profile) const {
  return experiment::along(profile, experiment::way_between(placement_, link.first, link.second));
}

/// In sentences. The rate of the way back is another link's, which is judged by itself.
std::vector<std::string> DeviceNetwork::deviations_of(const Measured& measured,
                                                      experiment::NetworkProfile asked) const {
  asked.backward.rate_bit_per_s.reset();
  shaping::Probe probe;
  probe.round_trip_min = Nanoseconds(measured.probed.round_trip_min_ns - measured.own.round_trip_min_ns);
  probe.round_trip_median = Nanoseconds(measured.probed.round_trip_ns - measured.own.round_trip_ns);
  probe.forward_bit_per_s = measured.bit_per_s;
  return shaping::judge(asked, probe, payload_share());
}

/// The link that brings back what crossed `link`: the one between the same two stages, or else the first that leads the
/// other way. A ring that leaves a device comes back to it, so there is one.
DeviceNetwork::LinkEnds DeviceNetwork::way_back_of(const LinkEnds& link) const {
  const auto& links = pipeline_->links_between_devices();
  if (links.contains({link.second, link.first})) return {link.second, link.first};
  const auto way = experiment::way_between(placement_, link.first, link.second);
  const auto back = std::find_if(links.begin(), links.end(), [&](const auto& other) {
    return experiment::way_between(placement_, other.first.first, other.first.second) != way;
  });
  return back->first;
}

experiment::NetworkEvidence DeviceNetwork::apply(const experiment::NetworkProfile& profile, int) {
  const auto measured = measure(profile);
  std::vector<shaping::FoundLink> found;
  std::vector<experiment::EmulatedLinkSite> sites;
  for (const auto& [link, measurement] : measured) {
    found.push_back(finding(link, measured, profile));
    sites.push_back(
        {link.first, link.second, device_of(link.first), measurement.own.round_trip_min_ns, interface_of(link.first)});
  }
  auto evidence = shaping::evidence_of_links(profile, found);
  evidence.links = std::move(sites);
  return evidence;
}

DeviceNetwork::Measurements DeviceNetwork::measure(const experiment::NetworkProfile& profile) {
  Measurements measured;
  shape({});
  for (const auto& [link, ports] : pipeline_->links_between_devices()) {
    measured[link].own = pipeline_->probe_link(link.first, link.second, kRoundTripsOnly);
  }
  const auto applied = shape(profile);
  for (auto& [link, found] : measured) {
    found.applied = applied.at(link);
    found.began_at_ns = now_ns();
    found.probed = pipeline_->probe_link(link.first, link.second, extent_for(profile));
    found.ended_at_ns = now_ns();
    found.bit_per_s = rate_of(found.probed, found.applied.forward);
  }
  return measured;
}

shaping::FoundLink DeviceNetwork::finding(const LinkEnds& link, const Measurements& measured,
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
  found.read_back = there.applied;
  found.deviations = deviations_of(there, profile_along(link, profile));
  return found;
}

}  // namespace paretopipe::run
