#include <paretopipe/shaping/kernel/shaped_link.hpp>

#include <deque>
#include <utility>

#include "networks.hpp"

namespace paretopipe::shaping {
namespace {

/// Each stage in a network namespace of its own, and the kernel's qdiscs on the virtual links between them, but for
/// those between two stages of one device.
class NetemNetwork final : public Network {
 public:
  NetemNetwork(int stages, config::Placement placement)
      : placement_(std::move(placement)), ring_(static_cast<std::size_t>(stages)) {}

  std::vector<int> namespaces(int stage) const override { return ring_.descriptors(static_cast<std::size_t>(stage)); }

  /// Where the stage before connects to.
  std::string address(int stage) const override {
    const auto index = static_cast<std::size_t>(stage), stages = ring_.stage_count();
    return NamespaceRing::address(index, (index + stages - 1) % stages);
  }

  Endpoint route(int from, int to, std::uint16_t port) override {
    return {NamespaceRing::address(static_cast<std::size_t>(to), static_cast<std::size_t>(from)), port};
  }

  config::NetworkEvidence apply(const config::NetworkProfile& profile, int interrupt_descriptor) override {
    links_.clear();  // the former ones go first: an interface has one root qdisc
    const auto last = ring_.stage_count() - 1;
    const auto way_back = way(last, 0);
    if (last > 1 && way_back != config::Way::within)
      links_.emplace_back(ring_, config::along(profile, way_back), last, 0);
    std::vector<FoundLink> found;
    for (std::size_t stage = 0; stage < last; ++stage) {
      const auto on = way(stage, stage + 1);
      if (on == config::Way::within) continue;
      found.push_back({static_cast<int>(stage), apply_from(stage, config::along(profile, on), interrupt_descriptor)});
    }
    return evidence_of_links(profile, std::move(found));
  }

 private:
  config::Way way(std::size_t from, std::size_t to) const {
    return config::way_between(placement_, static_cast<int>(from), static_cast<int>(to));
  }

  /// The profile on the link to the next stage, and what a probe finds there.
  config::NetworkEvidence apply_from(std::size_t stage, const config::NetworkProfile& profile,
                                     int interrupt_descriptor) {
    const auto& link = links_.emplace_back(ring_, profile, stage, stage + 1);
    const auto [first, second] = ring_.connect(interrupt_descriptor, stage, stage + 1);
    const auto probe = probe_link(first.get(), second.get(), brief_probe_options(profile, interrupt_descriptor));
    auto evidence = evidence_of(profile, link.read_back(), probe, kTcpPayloadShare);
    for (auto& difference : link.differences()) evidence.deviations.push_back(std::move(difference));
    return evidence;
  }

  config::Placement placement_;
  NamespaceRing ring_;
  std::deque<ShapedLink> links_;  // a link does not move
};

}  // namespace

std::unique_ptr<Network> make_netem_network(int stages, const config::Placement& placement) {
  return std::make_unique<NetemNetwork>(stages, placement);
}

}  // namespace paretopipe::shaping
