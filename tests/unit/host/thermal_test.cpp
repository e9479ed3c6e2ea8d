#include <paretopipe/host/health.hpp>
#include <paretopipe/host/thermal.hpp>

#include <filesystem>
#include <string>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/temporary_folder.hpp>

using namespace paretopipe;
using namespace paretopipe::host;

namespace {

class Sysfs {
 public:
  Sysfs& write(const std::string& file, const std::string& text) {
    const auto path = root_.path() / "sys" / file;
    std::filesystem::create_directories(path.parent_path());
    support::write_file(path, text + "\n");
    return *this;
  }
  Sysfs& zone(int number, const std::string& type, const std::string& millidegrees) {
    const auto folder = "class/thermal/thermal_zone" + std::to_string(number);
    return write(folder + "/type", type).write(folder + "/temp", millidegrees);
  }
  ThermalState read(const CpuSet& cpus = {0}) const { return read_thermal_state(cpus, root_.path()); }

 private:
  support::TemporaryFolder root_;
};

constexpr const char* kThrottled = "devices/platform/soc/soc:firmware/get_throttled";

}  // namespace

TEST_CASE("a machine that tells nothing of its heat has none", "[thermal]") {
  CHECK(Sysfs().read() == ThermalState{});
  CHECK(judge_thermal({}).empty());
}

TEST_CASE("the temperature is the CPU's, whatever else is hotter, and the hottest zone's if none is the CPU's",
          "[thermal]") {
  Sysfs sysfs;
  sysfs.zone(0, "iwlwifi_1", "61000").zone(1, "acpitz", "27800");
  CHECK(sysfs.read().temperature_celsius == 61.0);
  sysfs.zone(2, "cpu-thermal", "48312").zone(3, "PMIC-Die", "100000");
  CHECK(sysfs.read().temperature_celsius == 48.312);
  sysfs.zone(4, "x86_pkg_temp", "52000");
  CHECK(sysfs.read().temperature_celsius == 52.0);
}

TEST_CASE("a sensor that is off does not count", "[thermal]") {
  for (const auto* text : {"0", "-273000", "250000", "", "soon"}) {
    CAPTURE(text);
    CHECK_FALSE(Sysfs().zone(0, "cpu-thermal", text).read().temperature_celsius);
  }
}

TEST_CASE("a Raspberry Pi's bits say what limits it now and what did since boot", "[thermal]") {
  CHECK(Sysfs().write(kThrottled, "0").read().throttled == 0U);
  CHECK(Sysfs().write(kThrottled, "50005").read().throttled == 0x50005U);
  CHECK_FALSE(Sysfs().write(kThrottled, "none").read().throttled);
  CHECK(describe_throttling(0).empty());
  CHECK(describe_throttling(0x50005) == std::vector<std::string>{"under-voltage", "throttled"});
  CHECK(describe_throttling(0x20008) == std::vector<std::string>{"clock capped since boot", "soft temperature limit"});
  CHECK(is_throttled_now(0x50001));
  CHECK_FALSE(is_throttled_now(0x50000));
}

TEST_CASE("clock rates are the means over the stage's CPUs", "[thermal]") {
  Sysfs sysfs;
  for (const auto* cpu : {"0", "1"}) {
    const auto folder = std::string("devices/system/cpu/cpu") + cpu + "/cpufreq/";
    sysfs.write(folder + "scaling_cur_freq", cpu == std::string("0") ? "600000" : "1000000")
        .write(folder + "cpuinfo_max_freq", "1800000");
  }
  const auto state = sysfs.read({0, 1});
  CHECK(state.frequency_hz == 800'000'000);
  CHECK(state.max_frequency_hz == 1'800'000'000);
  CHECK_FALSE(sysfs.read({0, 2}).max_frequency_hz);
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
