#include <paretopipe/run/sweep.hpp>

#include <string>
#include <vector>

#include <support/catch.hpp>

#include "../stats/samples.hpp"

using namespace paretopipe;
using run::SlowWindows;

namespace {

/// Of a trial on one core of its own for each stage, whose probes took so long.
record::TrialRecord record_with_probes(std::int64_t stage0_ns, std::int64_t stage1_ns) {
  auto record = testing::make_record(testing::make_trial(3), {5000, 4000, 3000, 2000, 0}, 8000);
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    const auto probe = i == 0 ? stage0_ns : stage1_ns;
    record.stages[i].cpus = std::to_string(i);
    record.stages[i].conditions = host::CpuConditions{probe, probe, std::nullopt};
  }
  return record;
}

}  // namespace

TEST_CASE("a core is compared with itself, not with the other stage's") {
  SlowWindows windows;
  CHECK(windows.judge(record_with_probes(1000, 5000)).empty());
  CHECK(windows.judge(record_with_probes(1100, 5500)).empty());
}

TEST_CASE("a core that is slower than the sweep has seen it makes the trial suspect") {
  SlowWindows windows;
  windows.judge(record_with_probes(1000, 1000));
  CHECK(windows.judge(record_with_probes(1000, 1300)) ==
        std::vector<std::string>{"stage 1's core was 30 % slower than it has been in this sweep"});
  CHECK(windows.judge(record_with_probes(1300, 1300)).size() == 2);
}

TEST_CASE("the fastest probe is what counts, whenever it came") {
  SlowWindows windows;
  windows.judge(record_with_probes(1300, 1300));
  windows.judge(record_with_probes(1000, 1300));
  CHECK(windows.judge(record_with_probes(1300, 1300)).size() == 1);
}

TEST_CASE("a machine that stays slow is compared with what it is now") {
  SlowWindows windows;
  windows.judge(record_with_probes(1000, 1000));
  const auto slow = record_with_probes(1500, 1500);
  CHECK_FALSE(windows.judge(slow).empty());
  windows.accept(slow);
  CHECK(windows.judge(slow).empty());
  CHECK(windows.judge(record_with_probes(1900, 1500)).size() == 1);
}

TEST_CASE("of a stage that is held to a quota, the probe of its core says nothing") {
  SlowWindows windows;
  const auto held = [](std::int64_t probe_ns) {
    auto record = record_with_probes(1000, probe_ns);
    record.stages[1].emulated_device = record::EmulatedDevice{.profile = "pi", .device = 1, .cpu_quota = 0.5};
    return record;
  };
  windows.judge(held(1000));
  CHECK(windows.judge(held(5000)).empty());
  windows.accept(held(5000));
  CHECK(windows.judge(record_with_probes(1000, 9000)).empty());  // the first that tells anything of this core
}

TEST_CASE("disturbances that the record itself shows make the trial suspect from the first one on") {
  SlowWindows windows;
  auto disturbed = record_with_probes(1000, 1000);
  disturbed.stages[0].usage.major_page_faults = 1;
  CHECK(windows.judge(disturbed).size() == 1);
}

TEST_CASE("failed and invalid trials are not judged, nor those that tell nothing of their conditions") {
  SlowWindows windows;
  windows.judge(record_with_probes(1000, 1000));
  auto invalid = record_with_probes(9000, 9000);
  invalid.status = record::Status::invalid;
  CHECK(windows.judge(invalid).empty());
  CHECK(windows.judge(testing::make_failure(testing::make_trial(1), "gone")).empty());
  auto silent = record_with_probes(9000, 9000);
  for (auto& stage : silent.stages) stage.conditions.reset();
  CHECK(windows.judge(silent).empty());
}
