#pragma once
#include <paretopipe/config/network_profile.hpp>

#include <string>

namespace paretopipe::shaping {

/// One thing that was tried. `detail` says how it works, or else why it does not and what to install or load.
struct Ability {
  bool works = false;
  std::string detail;
};

/// What this machine can do, each tried for real in namespaces that are gone afterwards, never guessed from lists of
/// modules.
struct Capabilities {
  Ability namespaces;  ///< a NamespaceRing
  Ability tbf;         ///< a rate
  Ability netem;       ///< all the rest
};

/// Takes some tens of milliseconds. Never throws EnvironmentError: what fails is the answer.
Capabilities find_capabilities();

/// Whether the kernel can shape this profile here; if not, `detail` is a sentence that says why.
Ability can_shape(const Capabilities& capabilities, const config::NetworkProfile& profile);

}  // namespace paretopipe::shaping
