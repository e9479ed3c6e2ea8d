#pragma once
#include <paretopipe/launch/file_descriptor.hpp>
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace paretopipe::shaping {

/// Two network namespaces, one for each stage, joined by a veth pair: a network of its own, of which the machine's
/// interfaces know nothing. As root, or without root in a user namespace, where the kernel allows that.
///
/// The namespaces have no name and no process: they live as long as somebody has a descriptor of them, or runs in them.
/// So when this process ends, however it ends, and the stages with it, the kernel removes namespaces, interfaces and
/// qdiscs: there is nothing that could be left behind, and nothing to clean up.
///
/// Neither delay nor loss meets an address resolution: both ends know each other's hardware address from the start. In
/// the namespaces TCP may use windows that fill a long link, and does not fall back to slow start when a link was idle,
/// and no connection learns from those before it: the second batch travels like the first, and no trial depends on
/// another. That holds for sockets made in here.
class NamespacePair {
 public:
  static constexpr std::size_t kStages = 2;

  /// Throws EnvironmentError that says what to install, or which privilege or sysctl is missing.
  NamespacePair();

  /// For launch::ChildCommand::namespaces of what is to run in the network of `stage`. Borrowed from this object.
  std::vector<int> descriptors(std::size_t stage) const;

  /// The IPv4 address of `stage`, and the interface from which its traffic to the other stage leaves.
  static std::string address(std::size_t stage);
  static std::string interface(std::size_t stage);

  /// Whether there is a user namespace around the networks: programs inside believe to be root, and are not.
  bool unprivileged() const { return user_.get() >= 0; }

  /// Runs ip or tc in the network of `stage`, and returns what it prints. Throws EnvironmentError with the command and
  /// what it said.
  std::string run_in(std::size_t stage, const Command& command) const;

  /// A TCP connection over the very link, both ends of which are this process's: .first in the network of stage 0,
  /// .second in that of stage 1. Small writes are sent at once (TCP_NODELAY). Takes the link's round trip; throws
  /// Interrupted as soon as `interrupt_descriptor` (-1: nobody can interrupt) is readable.
  std::pair<launch::FileDescriptor, launch::FileDescriptor> connect(int interrupt_descriptor = -1) const;

  /// Sentences on what could not be set, so that long links may be slower than they should. Empty if all is well.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void make_namespaces();
  void join();
  void tune_tcp();

  launch::FileDescriptor user_;  ///< none when privileged
  std::array<launch::FileDescriptor, kStages> networks_;
  std::vector<std::string> warnings_;
};

}  // namespace paretopipe::shaping
