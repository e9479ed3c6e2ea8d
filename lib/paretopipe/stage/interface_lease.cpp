#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/guard.hpp>
#include <paretopipe/shaping/kernel/shaped_link.hpp>
#include <paretopipe/stage/interface_lease.hpp>
#include <paretopipe/wire/sockets.hpp>

#include <chrono>

#include <fmt/format.h>

namespace paretopipe::stage {

namespace {

/// A stage that hangs must not shape a machine's interface for ever.
constexpr std::chrono::hours kLongest{24};

}  // namespace

InterfaceLeased InterfaceLease::take(const LeaseInterface& request) {
  if (lease_) lease_->end();
  lease_.reset();
  if (!request.conditions.shaped()) return {};
  const auto peer = wire::ip_of(request.host, 0);
  interface_ = shaping::interface_towards(peer);
  shaping::PeerTarget target{interface_, peer, request.ports};
  target.mtu = shaping::interface_mtu(interface_).value_or(target.mtu);
  const shaping::LeaseTerms terms{interface_, shaping::plan_peer_shaping(target, request.conditions), kLongest};
  lease_.emplace(std::vector{launch::guarded_program().string(), std::string("keep-lease")}, terms);
  const InterfaceLeased applied{interface_, lease_->read_back()};
  const auto differences = shaping::differences(request.conditions, applied.read_back);
  if (differences.empty()) return applied;
  lease_.reset();
  throw EnvironmentError(fmt::format("shape {}: {}; it was removed again", interface_, differences.front()));
}

InterfaceLeased InterfaceLease::read() const {
  if (!lease_) return {};
  return {interface_, shaping::read_back_peer(shaping::run_tc(shaping::show_command(interface_)))};
}

}  // namespace paretopipe::stage
