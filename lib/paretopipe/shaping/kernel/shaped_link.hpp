#pragma once
#include <paretopipe/config/network_profile.hpp>
#include <paretopipe/shaping/kernel/namespace_ring.hpp>

namespace paretopipe::shaping {

/// One direction: the qdiscs on a stage's egress towards a peer, for the lifetime of this object.
class ShapedEgress {
 public:
  /// Throws EnvironmentError, which names what the kernel lacks; nothing is then applied.
  ShapedEgress(const NamespaceRing& networks, std::size_t stage, std::size_t peer,
               const config::LinkConditions& conditions);
  ShapedEgress(const ShapedEgress&) = delete;
  ShapedEgress& operator=(const ShapedEgress&) = delete;
  ~ShapedEgress();

  /// The applied conditions according to the kernel.
  config::LinkConditions read_back() const;

  /// Removes the qdiscs now, before the end of life. Throws EnvironmentError.
  void clear();

 private:
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
  ShapedLink(const NamespaceRing& networks, const config::NetworkProfile& profile, std::size_t near = 0,
             std::size_t far = 1);

  /// The currently applied conditions according to the kernel; the name is the profile's.
  config::NetworkProfile read_back() const;

  /// Sentences on differences from the profile, each with its direction; empty if there are none.
  std::vector<std::string> differences() const;

  void clear();

 private:
  config::NetworkProfile profile_;
  ShapedEgress forward_;
  ShapedEgress backward_;
};

}  // namespace paretopipe::shaping
