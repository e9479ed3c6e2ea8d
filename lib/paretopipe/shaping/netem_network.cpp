#include <paretopipe/shaping/kernel/shaped_link.hpp>

#include <deque>
#include <utility>

#include "networks.hpp"

namespace paretopipe::shaping {
namespace {

/// Each stage in its own network namespace, with the kernel's qdiscs on the virtual links between them, except between
/// two stages of one device.
class NetemNetwork final : public Network {
 public:
  NetemNetwork(int stages, config::Placement placement)
      : placement_(std::move(placement)), ring_(static_cast<std::size_t>(stages)) {}

  std::vector<int> namespaces(int stage) const override { return ring_.descriptors(static_cast<std::size_t>(stage)); }

  /// The address that the previous stage connects to.
  std::string address(int stage) const override {
    const auto index = static_cast<std::size_t>(stage), stages = ring_.stage_count();
    return NamespaceRing::address(index, (index + stages - 1) % stages);
  }

  Endpoint route(int from, int to, std::uint16_t port) override {
    return {NamespaceRing::address(static_cast<std::size_t>(to), static_cast<std::size_t>(from)), port};
  }

  config::NetworkEvidence apply(const config::NetworkProfile& profile, int interrupt_descriptor) override {
    links_.clear();  // the old ones go first: an interface has one root qdisc
    std::vector<FoundLink> found;
    const auto stages = ring_.stage_count();
    const auto joined = stages == 2 ? 1 : stages;  // two stages have one link, which also carries the results back
    for (std::size_t from = 0; from < joined; ++from) {
      const auto to = (from + 1) % stages;
      const auto way = config::way_between(placement_, static_cast<int>(from), static_cast<int>(to));
      if (way == config::Way::within) continue;
      found.push_back(apply_between(from, to, config::along(profile, way), interrupt_descriptor));
    }
    return evidence_of_links(profile, found);
  }

 private:
  /// Puts the profile on the link between two stages and returns what a probe finds there.
  FoundLink apply_between(std::size_t from, std::size_t to, const config::NetworkProfile& profile,
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

  config::Placement placement_;
  NamespaceRing ring_;
  std::deque<ShapedLink> links_;  // a link does not move
};

}  // namespace

std::unique_ptr<Network> make_netem_network(int stages, const config::Placement& placement) {
  return std::make_unique<NetemNetwork>(stages, placement);
}

}  // namespace paretopipe::shaping
