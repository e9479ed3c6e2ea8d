#include <paretopipe/shaping/kernel/shaped_link.hpp>

#include <optional>

#include "networks.hpp"

namespace paretopipe::shaping {
namespace {

/// Each stage in a network namespace of its own, and the kernel's qdiscs on the virtual link between them.
class NetemNetwork final : public Network {
 public:
  std::vector<int> namespaces(int stage) const override { return pair_.descriptors(static_cast<std::size_t>(stage)); }

  std::string address(int stage) const override { return NamespacePair::address(static_cast<std::size_t>(stage)); }

  Endpoint route(int, int to, std::uint16_t port) override { return {address(to), port}; }

  config::NetworkEvidence apply(const config::NetworkProfile& profile, int interrupt_descriptor) override {
    link_.reset();  // the former one goes first: an interface has one root qdisc
    link_.emplace(pair_, profile);
    const auto [first, second] = pair_.connect(interrupt_descriptor);
    const auto options = brief_probe_options(profile, interrupt_descriptor);
    const auto probe = probe_link(first.get(), second.get(), options);
    auto evidence = evidence_of(profile, link_->read_back(), probe, kTcpPayloadShare);
    for (auto& difference : link_->differences()) evidence.deviations.push_back(std::move(difference));
    return evidence;
  }

 private:
  NamespacePair pair_;
  std::optional<ShapedLink> link_;
};

}  // namespace

std::unique_ptr<Network> make_netem_network() {
  return std::make_unique<NetemNetwork>();
}

}  // namespace paretopipe::shaping
