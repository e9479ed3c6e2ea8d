#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/emulated/emulated_link.hpp>
#include <paretopipe/shaping/kernel/shaped_link.hpp>
#include <paretopipe/shaping/network.hpp>
#include <paretopipe/wire/link.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::shaping {

std::vector<int> Network::namespaces(int) const {
  return {};
}

std::string Network::address(int, int) const {
  return kLoopback;
}

Endpoint Network::route(int, int, std::uint16_t port) {
  return {kLoopback, port};
}

experiment::NetworkEvidence Network::apply(const experiment::NetworkProfile& profile, int) {
  if (profile.shaped()) {
    throw UsageError(fmt::format("the network {} cannot be had without shaping", profile.name));
  }
  experiment::NetworkEvidence evidence;
  evidence.read_back = profile;
  return evidence;
}

void Network::begin_trial() {}

void Network::end_trial(experiment::NetworkEvidence&) const {}

namespace {

ProbeOptions brief_probe_options(const experiment::NetworkProfile& profile, int interrupt_descriptor) {
  constexpr Nanoseconds kPatience = std::chrono::seconds(2);
  auto options = probe_options(profile);
  const auto round_trip = std::max<Nanoseconds>(expectation(profile).round_trip_most, std::chrono::microseconds(1));
  options.round_trips = std::clamp(static_cast<int>(kPatience / round_trip), 5, options.round_trips);
  options.interrupt_descriptor = interrupt_descriptor;
  return options;
}

}  // namespace

FoundLink probe_ways(const ProbedWays& ways, const experiment::NetworkProfile& asked, double payload_share,
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

experiment::NetworkEvidence evidence_of_links(const experiment::NetworkProfile& asked,
                                              const std::vector<FoundLink>& links) {
  experiment::NetworkEvidence evidence;
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

std::unique_ptr<Network> make_network(experiment::Shaping kind, int stages, const experiment::Placement& placement) {
  switch (kind) {
    case experiment::Shaping::none:
      return std::make_unique<Network>();
    case experiment::Shaping::netem:
      return make_netem_network(stages, placement);
    case experiment::Shaping::emulated:
      return make_emulated_network(stages, placement);
  }
  throw std::logic_error("an unknown kind of shaping");
}

namespace {

/// The relay counts the stream's bytes, so the whole rate is payload.
constexpr double kPayloadShare = 1;
constexpr std::uint64_t kJitterSeed = 1;

/// Both ends of a connection, in this process: a ring of one.
using Ends = wire::RingLinks;

OneWay way_over(const Ends& ends) {
  return {ends.next.native_handle(), ends.previous.native_handle()};
}

/// Connects through `link`, which must not delay: the handshake travels over it too, and nobody can interrupt that.
Ends connect_through(EmulatedLink& link) {
  const wire::LinkSecurity security{wire::random_key()};
  wire::Listener listener(kLoopback, {});
  link.lead_to(kLoopback, listener.port());
  return wire::join_ring(listener, {security, kLoopback, link.port(), security},
                         Clock::now() + std::chrono::seconds(20));
}

/// A relay for each way from one stage to another: those round the ring from the beginning, and others when they are
/// asked for (gradients, replicas). Each carries one direction of tensors: away from the source (the profile's
/// forward), or back towards it.
class EmulatedNetwork final : public Network {
 public:
  EmulatedNetwork(int stages, experiment::Placement placement) : stages_(stages), placement_(std::move(placement)) {
    for (int stage = 0; stage < stages; ++stage) relay({before(stage), stage});
  }

  Endpoint route(int from, int to, std::uint16_t port) override {
    if (experiment::way_between(placement_, from, to) == experiment::Way::within) return Network::route(from, to, port);
    auto& link = relay({from, to});
    link.lead_to(kLoopback, port);
    return {kLoopback, link.port()};
  }

  experiment::NetworkEvidence apply(const experiment::NetworkProfile& profile, int interrupt_descriptor) override {
    tolerance_ = lateness_tolerance(profile);
    const auto ends = connect_through_all();
    for (auto& [way, link] : relays_) set_conditions(way, link, profile);
    std::vector<FoundLink> found;
    for (int stage = 1; stage < stages_; ++stage) {
      const auto there = ends.find(stage);
      if (there == ends.end()) continue;
      auto asked = experiment::along(profile, way_to(stage));
      ProbedWays ways{stage - 1, stage, stage, stage - 1, way_over(there->second), {}};
      ways.backward = {ways.forward.to, ways.forward.from};
      if (const auto back = ends.find(0); back != ends.end()) {
        asked.backward = profile.backward;
        ways.back_from = stages_ - 1;
        ways.back_to = 0;
        ways.backward = way_over(back->second);
      }
      found.push_back(probe_ways(ways, asked, kPayloadShare, interrupt_descriptor));
      found.back().read_back = asked;
    }
    return evidence_of_links(profile, found);
  }

  void begin_trial() override {
    for (auto& [way, link] : relays_) link.watch_lateness(tolerance_);
  }

  void end_trial(experiment::NetworkEvidence& evidence) const override {
    LatenessMeter all(tolerance_);
    for (const auto& [way, link] : relays_) all.add(link.lateness());
    evidence.lateness = all.summary();
    if (!evidence.lateness) return;
    for (auto& sentence : judge(*evidence.lateness)) evidence.deviations.push_back(std::move(sentence));
  }

 private:
  using FromTo = std::pair<int, int>;

  int before(int stage) const { return (stage + stages_ - 1) % stages_; }
  static std::uint64_t seed_of(const FromTo& way) {
    return kJitterSeed + static_cast<std::uint64_t>(way.second) + 1000 * static_cast<std::uint64_t>(way.first);
  }

  /// The relay of this way. A new one has no conditions before the next apply().
  EmulatedLink& relay(const FromTo& way) {
    constexpr experiment::LinkConditions kUnshaped{};
    return relays_.try_emplace(way, kLoopback, kUnshaped, kUnshaped, seed_of(way)).first->second;
  }

  /// The direction of the link from the previous stage.
  experiment::Way way_to(int stage) const { return experiment::way_between(placement_, before(stage), stage); }

  void set_conditions(const FromTo& way, EmulatedLink& link, const experiment::NetworkProfile& profile) {
    const auto there = experiment::along(profile, experiment::way_between(placement_, way.first, way.second));
    link.set_conditions(there.forward, there.backward, seed_of(way));
  }

  /// Removes the conditions from all links. Returns a connection over each link that leads to another device, by the
  /// stage at the link's end.
  std::map<int, Ends> connect_through_all() {
    std::map<int, Ends> ends;
    for (auto& [way, link] : relays_) set_conditions(way, link, {});
    for (int stage = 0; stage < stages_; ++stage) {
      if (way_to(stage) != experiment::Way::within) ends.emplace(stage, connect_through(relay({before(stage), stage})));
    }
    return ends;
  }

  int stages_;
  experiment::Placement placement_;
  std::map<FromTo, EmulatedLink> relays_;
  Nanoseconds tolerance_ = lateness_tolerance({});
};

}  // namespace

std::unique_ptr<Network> make_emulated_network(int stages, const experiment::Placement& placement) {
  return std::make_unique<EmulatedNetwork>(stages, placement);
}

namespace {

/// Each stage in its own network namespace, with the kernel's qdiscs on the virtual links between them, except between
/// two stages of one device.
class NetemNetwork final : public Network {
 public:
  NetemNetwork(int stages, experiment::Placement placement)
      : placement_(std::move(placement)), ring_(static_cast<std::size_t>(stages)) {}

  std::vector<int> namespaces(int stage) const override { return ring_.descriptors(static_cast<std::size_t>(stage)); }

  std::string address(int from, int to) const override {
    return NamespaceRing::address(static_cast<std::size_t>(to), static_cast<std::size_t>(from));
  }

  Endpoint route(int from, int to, std::uint16_t port) override { return {address(from, to), port}; }

  experiment::NetworkEvidence apply(const experiment::NetworkProfile& profile, int interrupt_descriptor) override {
    links_.clear();  // the old ones go first: an interface has one root qdisc
    std::vector<FoundLink> found;
    const auto stages = ring_.stage_count();
    const auto joined = stages == 2 ? 1 : stages;  // two stages have one link, which also carries the results back
    for (std::size_t from = 0; from < joined; ++from) {
      const auto to = (from + 1) % stages;
      const auto way = experiment::way_between(placement_, static_cast<int>(from), static_cast<int>(to));
      if (way == experiment::Way::within) continue;
      found.push_back(apply_between(from, to, experiment::along(profile, way), interrupt_descriptor));
    }
    auto evidence = evidence_of_links(profile, found);
    // The ring's warnings may be the reason.
    if (!evidence.deviations.empty()) {
      evidence.deviations.insert(evidence.deviations.end(), ring_.warnings().begin(), ring_.warnings().end());
    }
    return evidence;
  }

 private:
  /// Puts the profile on the link between two stages and returns what a probe finds there.
  FoundLink apply_between(std::size_t from, std::size_t to, const experiment::NetworkProfile& profile,
                          int interrupt_descriptor) {
    const auto& link = links_.emplace_back(ring_, profile, from, to);
    const auto [near, far] = ring_.connect(interrupt_descriptor, from, to);
    const int first = static_cast<int>(from), second = static_cast<int>(to);
    auto found = probe_ways({first, second, second, first, {near.get(), far.get()}, {far.get(), near.get()}}, profile,
                            kTcpPayloadShare, interrupt_descriptor);
    found.read_back = link.read_back();
    for (auto& difference : link.differences()) found.deviations.push_back(std::move(difference));
    return found;
  }

  experiment::Placement placement_;
  NamespaceRing ring_;
  std::deque<ShapedLink> links_;  // a link does not move
};

}  // namespace

std::unique_ptr<Network> make_netem_network(int stages, const experiment::Placement& placement) {
  return std::make_unique<NetemNetwork>(stages, placement);
}

}  // namespace paretopipe::shaping
