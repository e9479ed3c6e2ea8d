#pragma once
#include <paretopipe/stage/link_messages.hpp>

#include <memory>
#include <string>

// Shapes the links between two machines by the kernel of the sender's machine, if this process may ask it to and nobody
// asked for relays. The network profile applies on the machine's real interface, to these links alone, and under a
// lease (shaping/interface/lease.hpp). The lease's keeper is the stage program with the argument "keep-lease". It
// removes everything when the stage has gone, however it ended. If the keeper is killed, the stage removes everything
// at once, even in the middle of a computation, because the stage might be killed before it has finished.
namespace paretopipe::stage {

class InterfaceLease {
 public:
  InterfaceLease();
  ~InterfaceLease();

  /// Replaces the lease, if there is one. Throws EnvironmentError, with nothing applied, if Lease does, and if the
  /// kernel did something else than it was asked for. If a part could not be removed, the error says so.
  InterfaceLeased take(const LeaseInterface& request);

  /// What the kernel does now. Throws EnvironmentError if the lease is over or the shaping is gone.
  InterfaceLeased read() const;

 private:
  class WatchedLease;

  std::string interface_;
  std::unique_ptr<WatchedLease> lease_;
};

}  // namespace paretopipe::stage
