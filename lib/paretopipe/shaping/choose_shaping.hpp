#pragma once
#include <paretopipe/config/network_profile.hpp>

#include <optional>
#include <span>
#include <string>

namespace paretopipe::shaping {

struct ShapingChoice {
  config::Shaping kind = config::Shaping::none;
  std::string warning;  ///< why it is not the kind that one would rather have; empty if it is
};

/// The one kind of network that carries all of a sweep's profiles. `asked`: nothing for "auto",
/// which takes none where nothing is shaped, netem where it works, else emulated with a warning. Tries what this
/// machine can do. Throws EnvironmentError where the kernel cannot do what netem was asked for, or nothing here can do
/// all profiles, and UsageError for a profile that an emulated network cannot do by its nature; the sentence names the
/// profile.
ShapingChoice choose_shaping(std::optional<config::Shaping> asked, std::span<const config::NetworkProfile> profiles);

}  // namespace paretopipe::shaping
