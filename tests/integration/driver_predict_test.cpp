#include <paretopipe/analysis/predict/profile.hpp>

#include <algorithm>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

/// 18 ms on any device; what crosses is small, then large, then small.
const Words kModel = "--model synthetic:5ms/200kB,3ms/2MB,8ms/40kB,2ms";

/// A folder in which p.json holds a profile, for all tests.
const Shell& profiled() {
  static const Shell shell;
  static const auto outcome = shell.run(Words("profile --out p.json --rounds 5") + kModel);
  if (outcome.exit_code != 0) throw std::runtime_error("profile failed: " + outcome.errors);
  return shell;
}

}  // namespace

TEST_CASE("profile times every run of blocks on each device, and the links between them") {
  const auto profile = predict::load_profile(profiled().folder() / "p.json");
  CHECK(profile.model.block_count() == 4);
  REQUIRE(profile.devices.size() == 2);
  CHECK(profile.devices[0].cpus != "");
  const std::int64_t block_ms[] = {5, 3, 8, 2};
  for (const auto& device : profile.devices) {
    REQUIRE(device.runs.size() == 10);
    for (const auto& run : device.runs) {
      std::int64_t expected_ns = 0;
      for (int block = run.begin; block < run.end; ++block) expected_ns += block_ms[block] * 1'000'000;
      const auto least = *std::min_element(run.compute_ns.begin(), run.compute_ns.end());
      CAPTURE(device.name, run.begin, run.end);
      CHECK(run.compute_ns.size() == 5);
      CHECK(least >= expected_ns);
      CHECK(least < expected_ns + 1'000'000);
      CHECK(run.memory_bytes.has_value());
    }
  }
  REQUIRE(profile.links.size() == 2);
  CHECK(profile.links[1].from == 1);
  CHECK(profile.links[1].to == 0);
  CHECK(profile.links[0].rate_bit_per_s > 1e8);  // loopback
}

TEST_CASE("a device that has a name keeps it in its profile, with the memory that its runs need") {
  const Shell shell;
  shell.write("devices.json", R"({"pi": {"launch": ["env"], "address": "127.0.0.1", "program": ")" +
                                  std::string(PARETOPIPE_BIN_DIR) +
                                  R"(/fake-stage", "cpus": "0"}, "local": {"address": "127.0.0.1"}})");
  shell.run(0, Words("profile --out p.json --rounds 1 --on pi --on local --devices devices.json") +
                   "--model synthetic:0ms/200kB,0ms");
  const auto profile = predict::load_profile(shell.folder() / "p.json");
  CHECK(profile.devices.front().name == "pi");
  CHECK(profile.devices.front().cpus == "0");
  CHECK(profile.devices.front().runs.front().memory_bytes.value_or(0) >= 200'000);
}

TEST_CASE("what cannot be profiled is refused in a sentence") {
  std::string many = "synthetic:";
  for (int i = 0; i < 64; ++i) many += "0ms/4kB,";
  check_refused(profiled(), "profile --out no.json",
                {{"--model synthetic:0ms/4kB,0ms --batch 1 --batch 2", "--batch"},
                 {"--model synthetic:0ms/4kB,0ms --batch 1,2", "one model, at one batch"},
                 {"--model synthetic:0ms/4kB,0ms --model synthetic:0ms", "one model, at one batch"},
                 {"--model synthetic:0ms/4kB,0ms --rounds 0", "--rounds"},
                 {Words("--model") + Words(many + "0ms"), "has 65 blocks"}});
  check_refused(profiled(), "profile", {{"--model synthetic:0ms/4kB,0ms", "--out"}});
}
