#pragma once
#include <paretopipe/experiment/network_profile.hpp>

#include <optional>
#include <span>
#include <string>

namespace paretopipe::shaping {

struct ShapingChoice {
  experiment::Shaping kind = experiment::Shaping::none;
  std::string warning;  ///< why it is not the preferred kind; empty if it is
};

/// Chooses the one kind of network that carries all of a sweep's profiles. `asked`: nothing for "auto", which means
/// none if nothing is shaped, netem if it works, and otherwise emulated with a warning. Tries what this machine can do.
/// Throws EnvironmentError if the kernel cannot do what netem was requested for, or nothing here can do all profiles.
/// Throws UsageError, which names the profile, for a profile that an emulated network cannot do in principle.
ShapingChoice choose_shaping(std::optional<experiment::Shaping> asked,
                             std::span<const experiment::NetworkProfile> profiles);

}  // namespace paretopipe::shaping
