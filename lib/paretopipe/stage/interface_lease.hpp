#pragma once
#include <paretopipe/stage/link_messages.hpp>

#include <memory>
#include <string>

// What a network profile does to the links between two machines is done by the kernel of the sender's machine, where
// this process may and nobody asked for relays: on its real interface, for these links alone, and under a lease
// (shaping/interface/lease.hpp). The lease's keeper is the stage program with the argument "keep-lease", and removes
// everything when the stage has gone, however it ended. If the keeper is killed, the stage removes it at once, whatever
// it computes: it may be killed itself before it has time for it.
namespace paretopipe::stage {

class InterfaceLease {
 public:
  InterfaceLease();
  ~InterfaceLease();

  /// Replaces the lease, if there is one. Throws EnvironmentError, with nothing applied, for what Lease refuses, and if
  /// the kernel did something else than it was asked for.
  InterfaceLeased take(const LeaseInterface& request);

  /// What the kernel does now. Throws EnvironmentError if the lease is over or the shaping is gone.
  InterfaceLeased read() const;

 private:
  class WatchedLease;

  std::string interface_;
  std::unique_ptr<WatchedLease> lease_;
};

}  // namespace paretopipe::stage
