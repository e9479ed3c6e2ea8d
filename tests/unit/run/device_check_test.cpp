#include <paretopipe/run/device_check.hpp>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::run;

TEST_CASE("all is well if every device and every way can be used, and no finding forbids it", "[device_check]") {
  DeviceCheck check{.devices = {{}, {}}, .links = {{}}};
  CHECK(check.well());
  check.devices[0].findings = {
      {.name = "load", .level = host::Level::warning, .observed = "", .why = "", .remedy = ""}};
  CHECK(check.well());
  SECTION("a problem of the machine") {
    check.devices[0].findings[0].level = host::Level::problem;
  }
  SECTION("a device without a stage") {
    check.devices[1].problem = "gone";
  }
  SECTION("a way that does not exist") {
    check.links[0].problem = "no route";
  }
  CHECK_FALSE(check.well());
}

TEST_CASE("the JSON of a check has what is known, and nothing that is not", "[device_check]") {
  CheckedDevice device;
  device.device.name = "pi";
  device.clock_offset = stats::OffsetInterval{-5, 7};
  const nlohmann::json known = device;
  CHECK(known["clock_offset_ns"] == nlohmann::json{{"low", -5}, {"high", 7}});
  CHECK_FALSE(known.contains("problem"));
  device.problem = "gone";
  CHECK(nlohmann::json(device) == nlohmann::json{{"name", "pi"}, {"well", false}, {"problem", "gone"}});
  const nlohmann::json link = CheckedLink{"pi", "local", {}, stage::LinkProbed{100, 90, 1'000'000, 8'000'000}};
  CHECK(link["rate_bit_per_s"] == 1e9);
  CHECK(link["round_trip_ns"] == 100);
}

TEST_CASE("two wall clocks are as far apart as exchanges show, and time daemons that promise more are contradicted",
          "[device_check]") {
  const host::WallClock own{1'000, 400}, device{51'000, 600};
  const auto clocks = compare_wall_clocks({-49'500, -48'500}, device, own);
  CHECK(clocks.offset == stats::OffsetInterval{500, 1'500});
  CHECK(clocks.claimed_ns == 1'000);
  CHECK_FALSE(clocks.contradicted());
  CHECK(compare_wall_clocks({-48'999, -48'500}, device, own).contradicted());
  CHECK(compare_wall_clocks({-51'900, -51'001}, device, own).contradicted());
  const auto unknown = compare_wall_clocks({0, 1}, device, {1'000, {}});
  CHECK_FALSE(unknown.claimed_ns.has_value());
  CHECK_FALSE(unknown.contradicted());
}
