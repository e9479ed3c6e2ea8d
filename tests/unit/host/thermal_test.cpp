#include <paretopipe/host/health.hpp>
#include <paretopipe/host/thermal.hpp>

#include <string>

#include <support/catch.hpp>

#include "fake_machine.hpp"

using namespace paretopipe::host;

TEST_CASE("a machine that tells nothing of its heat has none", "[thermal]") {
  CHECK(FakeMachine().thermal_state() == ThermalState{});
  CHECK(judge_thermal({}).empty());
}

TEST_CASE("the temperature is the CPU's, whatever else is hotter, and the hottest zone's if none is the CPU's",
          "[thermal]") {
  FakeMachine machine;
  machine.write_zone(0, "iwlwifi_1", "61000").write_zone(1, "acpitz", "27800");
  CHECK(machine.thermal_state().temperature_celsius == 61.0);
  machine.write_zone(2, "cpu-thermal", "48312").write_zone(3, "PMIC-Die", "100000");
  CHECK(machine.thermal_state().temperature_celsius == 48.312);
  machine.write_zone(4, "x86_pkg_temp", "52000");
  CHECK(machine.thermal_state().temperature_celsius == 52.0);
}

TEST_CASE("a sensor that is off does not count", "[thermal]") {
  for (const auto* text : {"0", "-273000", "250000", "", "soon"}) {
    CAPTURE(text);
    CHECK_FALSE(FakeMachine().write_zone(0, "cpu-thermal", text).thermal_state().temperature_celsius);
  }
}

TEST_CASE("a Raspberry Pi's bits say what limits it now and what did since boot", "[thermal]") {
  CHECK(FakeMachine().write_throttled("0").thermal_state().throttled == 0U);
  CHECK(FakeMachine().write_throttled("50005").thermal_state().throttled == 0x50005U);
  CHECK_FALSE(FakeMachine().write_throttled("none").thermal_state().throttled);
  CHECK(describe_throttling(0).empty());
  CHECK(describe_throttling(0x50005) == std::vector<std::string>{"under-voltage", "throttled"});
  CHECK(describe_throttling(0x20008) == std::vector<std::string>{"clock capped since boot", "soft temperature limit"});
  CHECK(is_throttled_now(0x50001));
  CHECK_FALSE(is_throttled_now(0x50000));
}

TEST_CASE("clock rates are the means over the stage's CPUs", "[thermal]") {
  FakeMachine machine;
  machine.write_frequency(0, "600000").write_frequency(1, "1000000");
  for (const std::string cpu : {"cpu0", "cpu1"}) {
    machine.write("sys/devices/system/cpu/" + cpu + "/cpufreq/cpuinfo_max_freq", "1800000");
  }
  const auto state = machine.thermal_state({0, 1});
  CHECK(state.frequency_hz == 800'000'000);
  CHECK(state.max_frequency_hz == 1'800'000'000);
  CHECK_FALSE(machine.thermal_state({0, 2}).max_frequency_hz);
}

TEST_CASE("heat and a weak supply are warnings while they last, and a note afterwards", "[thermal]") {
  const auto levels = [](const ThermalState& state) {
    std::vector<Level> found;
    for (const auto& finding : judge_thermal(state)) found.push_back(finding.level);
    return found;
  };
  CHECK(levels({.temperature_celsius = 45, .throttled = 0}) == std::vector{Level::ok, Level::ok});
  CHECK(levels({.temperature_celsius = 83, .throttled = 0x40004}) == std::vector{Level::warning, Level::warning});
  CHECK(levels({.throttled = 0x10000}) == std::vector{Level::note});
}

TEST_CASE("a thermal state comes back from its JSON, and what is absent stays absent", "[thermal]") {
  for (const auto& state : {ThermalState{}, ThermalState{48.5, 0x50000U, 600'000'000, 1'800'000'000}}) {
    CHECK(nlohmann::json::parse(nlohmann::json(state).dump()).get<ThermalState>() == state);
  }
}
