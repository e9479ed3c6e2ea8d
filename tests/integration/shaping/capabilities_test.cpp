#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "machine_state.hpp"

using namespace paretopipe;
using support::capabilities;
using support::contains;

TEST_CASE("every ability says how it works, or why it does not", "[capabilities]") {
  for (const auto* ability : {&capabilities().namespaces, &capabilities().tbf, &capabilities().netem}) {
    CHECK_FALSE(ability->detail.empty());
    if (!ability->works) WARN("not on this machine: " << ability->detail);
  }
}

TEST_CASE("a kernel without netem is told apart, with the module to load", "[capabilities][needs:no_netem]") {
  support::need(capabilities().namespaces);
  support::need_no_netem();
  CHECK(contains(capabilities().netem.detail, "sudo modprobe sch_netem"));
}

TEST_CASE("trying leaves nothing behind", "[capabilities][needs:namespaces]") {
  support::need(capabilities().namespaces);
  const auto before = support::machine_state();
  shaping::find_capabilities();
  CHECK(support::machine_state() == before);
}

TEST_CASE("a profile can be shaped where all that it asks for works", "[capabilities]") {
  shaping::Capabilities some{{true, "yes"}, {true, "yes"}, {false, "no netem"}};
  CHECK(can_shape(some, experiment::load_network_profile("unshaped")).works);
  CHECK(can_shape(some, experiment::load_network_profile("wifi")).detail == "no netem");
  experiment::NetworkProfile paced;
  paced.backward.rate_bit_per_s = 1'000'000;
  CHECK(can_shape(some, paced).works);
  some.namespaces = {false, "no namespaces"};
  CHECK(can_shape(some, paced).detail == "no namespaces");
  CHECK(can_shape(some, experiment::load_network_profile("unshaped")).works);
}
