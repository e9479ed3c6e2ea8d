#pragma once
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace paretopipe::shaping {

/// A network namespace for each stage, joined by veth pairs: a separate network that the machine's interfaces do not
/// see. Works as root, or without root in a user namespace if the kernel allows that.
///
/// Two stages have one link, over which tensors go there and results back. More stages form a ring: a link from every
/// stage to the next and one from the last stage to the first, each with its own interfaces and subnet.
///
/// The namespaces have no name and no process: they live as long as somebody has a descriptor of them or runs in them.
/// So when this process and the stages end, however they end, the kernel removes namespaces, interfaces and qdiscs:
/// nothing is left behind.
///
/// Delay and loss do not affect address resolution: both ends know each other's hardware address from the start. In the
/// namespaces TCP may use windows that fill a long link, does not fall back to slow start on an idle link, and learns
/// nothing from earlier connections: the second batch travels like the first, and no trial depends on another. That
/// holds for sockets made in the namespaces.
class NamespaceRing {
 public:
  /// For 2 to kMostStages stages. Throws EnvironmentError, which says what to install, or which privilege or sysctl is
  /// missing.
  explicit NamespaceRing(std::size_t stages = 2);

  std::size_t stage_count() const { return networks_.size(); }

  /// The value of launch::ChildCommand::namespaces for a program in the network of `stage`. Borrowed from this object.
  std::vector<int> descriptors(std::size_t stage) const;

  /// The IPv4 address of `stage` on its link with `peer`; and the name of the interface that leads to `peer`, in the
  /// network of any stage.
  static std::string address(std::size_t stage, std::size_t peer);
  static std::string interface(std::size_t peer);

  /// True if a user namespace surrounds the networks: programs inside believe that they are root, but are not.
  bool unprivileged() const { return user_.get() >= 0; }

  /// Runs ip or tc in the network of `stage` and returns the output. Throws EnvironmentError with the command and its
  /// message.
  std::string run_in(std::size_t stage, const Command& command) const;

  /// A TCP connection over the link between two stages, with both ends in this process: .first in the network of
  /// `near`, .second in that of `far`. Small writes are sent at once (TCP_NODELAY). Takes the link's round trip. Throws
  /// Interrupted as soon as `interrupt_descriptor` (-1: nobody can interrupt) is readable.
  std::pair<FileDescriptor, FileDescriptor> connect(int interrupt_descriptor = -1, std::size_t near = 0,
                                                    std::size_t far = 1) const;

  /// Sentences on settings that failed and may make long links slower. Empty if all is well.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void make_namespaces(std::size_t stages);
  void join(std::size_t near, std::size_t far);
  void set_up_end(std::size_t stage, std::size_t peer);
  void tune_tcp();

  FileDescriptor user_;                   ///< none when privileged
  std::vector<FileDescriptor> networks_;  ///< of each stage
  std::vector<std::string> warnings_;
};

}  // namespace paretopipe::shaping
