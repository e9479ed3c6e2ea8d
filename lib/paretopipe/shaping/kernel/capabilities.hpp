#pragma once
#include <paretopipe/experiment/network_profile.hpp>

#include <string>

namespace paretopipe::shaping {

/// The result of one attempt. `detail` says how it works, or why it does not and what to install or load.
struct Ability {
  bool works = false;
  std::string detail;
};

/// What this machine can do. Each ability is tried for real in temporary namespaces, never guessed from lists of
/// modules.
struct Capabilities {
  Ability namespaces;  ///< a NamespaceRing
  Ability tbf;         ///< a rate
  Ability netem;       ///< all the rest
};

/// Takes some tens of milliseconds. Never throws EnvironmentError: failures are part of the result.
Capabilities find_capabilities();

/// True if the kernel can shape this profile here; if not, `detail` is a sentence that says why.
Ability can_shape(const Capabilities& capabilities, const experiment::NetworkProfile& profile);

}  // namespace paretopipe::shaping
