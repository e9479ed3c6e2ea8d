#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/launch/guard.hpp>
#include <paretopipe/shaping/interface/lease.hpp>
#include <paretopipe/shaping/kernel/shaped_link.hpp>
#include <paretopipe/stage/fault.hpp>
#include <paretopipe/stage/interface_lease.hpp>
#include <paretopipe/wire/sockets.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <future>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>

#include <fmt/format.h>

namespace paretopipe::stage {

namespace {

/// A stage that hangs must not shape a machine's interface for ever.
constexpr std::chrono::hours kLongest{24};

}  // namespace

/// A lease, and a thread that ends it as soon as its keeper has.
class InterfaceLease::WatchedLease {
 public:
  explicit WatchedLease(const shaping::LeaseTerms& terms)
      : lease_({launch::guarded_program().string(), "keep-lease"}, terms), give_back_(::eventfd(0, EFD_CLOEXEC)) {
    if (give_back_.get() < 0) throw system_error("make a descriptor (eventfd) to give a lease back with", errno);
    end_ = std::async(std::launch::async, [this] { return end_in_time(); }).share();
  }
  ~WatchedLease() {
    if (!end_.valid()) return;
    ask_to_end();
    end_.wait();
  }
  WatchedLease(const WatchedLease&) = delete;
  WatchedLease& operator=(const WatchedLease&) = delete;

  bool over() const { return end_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
  experiment::LinkConditions read_back() const { return lease_.read_back(); }

  /// Returns and throws what Lease::end does.
  shaping::LeaseOutcome end() const {
    ask_to_end();
    return end_.get();
  }

 private:
  void ask_to_end() const { ::eventfd_write(give_back_.get(), 1); }

  shaping::LeaseOutcome end_in_time() {
    std::array events{pollfd{lease_.descriptor(), POLLIN, 0}, pollfd{give_back_.get(), POLLIN, 0}};
    while (::poll(events.data(), events.size(), -1) < 0 && errno == EINTR) {
    }
    return lease_.end();
  }

  shaping::Lease lease_;
  FileDescriptor give_back_;
  std::shared_future<shaping::LeaseOutcome> end_;
};

InterfaceLease::InterfaceLease() = default;
InterfaceLease::~InterfaceLease() = default;

InterfaceLeased InterfaceLease::take(const LeaseInterface& request) {
  if (const auto previous = std::move(lease_)) previous->end();
  if (!request.conditions.shaped()) return {};
  const auto peer = wire::ip_of(request.host, 0);
  interface_ = shaping::interface_towards(peer);
  shaping::PeerTarget target{interface_, peer, request.ports};
  target.mtu = shaping::interface_mtu(interface_).value_or(target.mtu);
  const shaping::LeaseTerms terms{interface_, shaping::plan_peer_shaping(target, request.conditions), kLongest};
  auto lease = std::make_unique<WatchedLease>(terms);
  const InterfaceLeased applied{interface_, lease->read_back()};
  const auto differences = shaping::differences(request.conditions, applied.read_back);
  if (differences.empty()) {
    lease_ = std::move(lease);
    return applied;
  }
  lease->end();  // throws if something is still there
  throw EnvironmentError(fmt::format("shape {}: {}; it was removed again", interface_, differences.front()));
}

InterfaceLeased InterfaceLease::read() const {
  if (!lease_) return {};
  if (lease_->over()) {
    lease_->end();  // throws if something is still there
    throw ProcessLost(fmt::format("what kept {} shaped has ended, and the interface is as before", interface_));
  }
  return {interface_, shaping::read_back_peer(shaping::run_tc(shaping::show_command(interface_)))};
}

}  // namespace paretopipe::stage
