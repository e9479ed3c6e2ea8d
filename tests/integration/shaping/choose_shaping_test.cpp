// What this machine can shape, and which way is chosen for what a person wants.
#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/choose_shaping.hpp>

#include <vector>

#include <support/catch.hpp>
#include <support/thrown.hpp>

#include "machine_state.hpp"

using namespace paretopipe;
using experiment::Shaping;
using shaping::choose_shaping;
using support::capabilities;
using support::check_throws;
using support::contains;

namespace {

std::vector<experiment::NetworkProfile> profiles(const std::vector<std::string>& names) {
  std::vector<experiment::NetworkProfile> loaded;
  for (const auto& name : names) loaded.push_back(experiment::load_network_profile(name));
  return loaded;
}

}  // namespace

TEST_CASE("nothing is put between the stages where nothing is shaped, unless a person asks for it", "[choice]") {
  CHECK(choose_shaping(std::nullopt, profiles({"unshaped"})).kind == Shaping::none);
  CHECK(choose_shaping(Shaping::none, profiles({"unshaped"})).kind == Shaping::none);
  CHECK(choose_shaping(Shaping::emulated, profiles({"unshaped"})).kind == Shaping::emulated);
}

TEST_CASE("left to itself, shaping is the kernel's where that works for all profiles, else emulated with a warning",
          "[choice]") {
  const auto choice = choose_shaping(std::nullopt, profiles({"unshaped", "wifi"}));
  const bool kernel = capabilities().netem.works;
  CHECK(choice.kind == (kernel ? Shaping::netem : Shaping::emulated));
  CHECK(choice.warning.empty() == kernel);
  if (!kernel) CHECK(contains(choice.warning, "wifi"));
}

TEST_CASE("a rate alone needs no netem", "[choice][needs:tbf]") {
  support::need(capabilities().tbf);
  experiment::NetworkProfile paced{"paced", {}, {}};
  paced.forward.rate_bit_per_s = 5'000'000;
  CHECK(choose_shaping(std::nullopt, std::vector{paced}).kind == Shaping::netem);
}

TEST_CASE("a profile that nothing here can do is refused with both reasons", "[choice]") {
  const auto lossy = profiles({"unshaped", "lossy"});
  check_throws<UsageError>([&] { choose_shaping(Shaping::emulated, lossy); }, {"lossy"});
  if (capabilities().netem.works) {
    CHECK(choose_shaping(std::nullopt, lossy).kind == Shaping::netem);
    return;
  }
  check_throws<EnvironmentError>([&] { choose_shaping(Shaping::netem, lossy); }, {"lossy"});
  check_throws<EnvironmentError>([&] { choose_shaping(std::nullopt, lossy); }, {"With netem", "cannot lose packets"});
}

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
