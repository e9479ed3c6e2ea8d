#pragma once
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/shaping/kernel/namespace_ring.hpp>

#include <string>
#include <vector>

namespace paretopipe::shaping {

/// The conditions applied to an egress, from the output of `tc -j qdisc show dev X`. Qdiscs that the kernel creates by
/// itself (noqueue, pfifo_fast, fq_codel …) shape nothing. The kernel does not report a delay's distribution: it reads
/// back as uniform. Throws EnvironmentError for anything but such JSON, and for a qdisc that shapes but is not ours.
experiment::LinkConditions read_back(const std::string& tc_json);

/// Sentences on differences between the applied and the requested conditions; empty if there are none. Values left to
/// us (burst, queues) and the distribution, which cannot be read, are not compared. Tolerances are the rounding of tc
/// and the kernel: 2 us and 0.1 % of times, 0.1 % of rates and probabilities, what the rate delivers in 2 us for
/// bursts, and one frame's time in the queue.
std::vector<std::string> differences(const experiment::LinkConditions& requested,
                                     const experiment::LinkConditions& applied);

/// One direction: the qdiscs on a stage's egress towards a peer, for the lifetime of this object.
class ShapedEgress {
 public:
  /// Throws EnvironmentError, which names what the kernel lacks; nothing is then applied.
  ShapedEgress(const NamespaceRing& networks, std::size_t stage, std::size_t peer,
               const experiment::LinkConditions& conditions);
  ShapedEgress(const ShapedEgress&) = delete;
  ShapedEgress& operator=(const ShapedEgress&) = delete;
  ~ShapedEgress();

  /// The applied conditions according to the kernel.
  experiment::LinkConditions read_back() const;

 private:
  /// Removes what was applied. Throws EnvironmentError.
  void clear();

  const NamespaceRing& networks_;
  std::size_t stage_;
  std::size_t peer_;
  bool applied_ = false;
};

/// A profile on the link between two stages, for the lifetime of this object: `forward` on the egress of `near`,
/// `backward` on that of `far`. Connections over the link survive changes of the profile. `networks` must outlive it.
class ShapedLink {
 public:
  /// Throws EnvironmentError; nothing is then applied.
  ShapedLink(const NamespaceRing& networks, const experiment::NetworkProfile& profile, std::size_t near = 0,
             std::size_t far = 1);

  /// The currently applied conditions according to the kernel; the name is the profile's.
  experiment::NetworkProfile read_back() const;

  /// Sentences on differences from the profile, each with its direction; empty if there are none.
  std::vector<std::string> differences() const;

 private:
  experiment::NetworkProfile profile_;
  ShapedEgress forward_;
  ShapedEgress backward_;
};

}  // namespace paretopipe::shaping
