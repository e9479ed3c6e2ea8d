#pragma once
#include <paretopipe/config/network_profile.hpp>
#include <paretopipe/shaping/kernel/namespace_ring.hpp>

namespace paretopipe::shaping {

/// One direction: the qdiscs on the egress of a stage towards a peer, for as long as it lives.
class ShapedEgress {
 public:
  /// Throws EnvironmentError that names what the kernel lacks; nothing is then applied.
  ShapedEgress(const NamespaceRing& networks, std::size_t stage, std::size_t peer,
               const config::LinkConditions& conditions);
  ShapedEgress(const ShapedEgress&) = delete;
  ShapedEgress& operator=(const ShapedEgress&) = delete;
  ~ShapedEgress();

  /// What the kernel says is applied.
  config::LinkConditions read_back() const;

  /// Removes the qdiscs, at once and not at the end of life. Throws EnvironmentError.
  void clear();

 private:
  const NamespaceRing& networks_;
  std::size_t stage_;
  std::size_t peer_;
  bool applied_ = false;
};

/// A profile on the link between two stages, for as long as it lives: `forward` on the egress of `near`, `backward` on
/// that of `far`. Connections over the link stay as the profile comes and goes. `networks` must outlive it.
class ShapedLink {
 public:
  /// Throws EnvironmentError; nothing is then applied.
  ShapedLink(const NamespaceRing& networks, const config::NetworkProfile& profile, std::size_t near = 0,
             std::size_t far = 1);

  /// What the kernel says is applied, now; the name is the profile's.
  config::NetworkProfile read_back() const;

  /// Sentences on where that differs from the profile, each with its direction; empty if it does not.
  std::vector<std::string> differences() const;

  void clear();

 private:
  config::NetworkProfile profile_;
  ShapedEgress forward_;
  ShapedEgress backward_;
};

}  // namespace paretopipe::shaping
