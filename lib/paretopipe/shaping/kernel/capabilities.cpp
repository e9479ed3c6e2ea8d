#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/kernel/capabilities.hpp>
#include <paretopipe/shaping/kernel/namespace_ring.hpp>
#include <paretopipe/shaping/kernel/shaped_link.hpp>
#include <paretopipe/shaping/kernel/tc_commands.hpp>

namespace paretopipe::shaping {

namespace {

Ability try_shaping(const NamespaceRing& networks, const experiment::LinkConditions& conditions, const char* what) {
  try {
    const ShapedEgress shaped(networks, 0, 1, conditions);
    return {true, fmt::format("{} was applied to a link of its own", what)};
  } catch (const EnvironmentError& error) {
    return {false, error.what()};
  }
}

experiment::LinkConditions rate_alone() {
  experiment::LinkConditions conditions;
  conditions.rate_bit_per_s = 1'000'000;
  return conditions;
}

experiment::LinkConditions scattered_delay() {
  experiment::LinkConditions conditions;
  conditions.delay = std::chrono::milliseconds(2);
  conditions.jitter = std::chrono::milliseconds(1);
  conditions.distribution = experiment::DelayDistribution::normal;  // needs a table from iproute2
  return conditions;
}

}  // namespace

Capabilities find_capabilities() {
  Capabilities found;
  try {
    const NamespaceRing networks;
    found.namespaces = {true, networks.unprivileged() ? "in a user namespace, without privilege" : "with privilege"};
    found.tbf = try_shaping(networks, rate_alone(), "a rate (tbf)");
    found.netem = try_shaping(networks, scattered_delay(), "a delay with jitter (netem)");
  } catch (const EnvironmentError& error) {
    found.namespaces = {false, error.what()};
    found.tbf = found.netem = {false, fmt::format("it needs network namespaces: {}", error.what())};
  }
  return found;
}

Ability can_shape(const Capabilities& capabilities, const experiment::NetworkProfile& profile) {
  if (!profile.shaped()) return {true, "nothing is to be shaped"};
  if (!capabilities.namespaces.works) return capabilities.namespaces;
  for (const auto* conditions : {&profile.forward, &profile.backward}) {
    if (needs_netem(*conditions) && !capabilities.netem.works) return capabilities.netem;
    if (needs_tbf(*conditions) && !capabilities.tbf.works) return capabilities.tbf;
  }
  return {true, capabilities.namespaces.detail};
}

}  // namespace paretopipe::shaping
