// Emulated devices, as from a shell. Limits need cgroups that may be written to: where there are none, what needs them
// is skipped, and said. tests/uml runs this with both versions of cgroups.
#include <paretopipe/launch/cgroup.hpp>

#include <csignal>

#include "driver_fixture.hpp"
#include "virtual_machine.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::need_virtual_machine;
using support::text_of;

namespace {

const Words kBatches = "--batches 4 --warmup 1 --repeat 1";
const Words kOnSmall = kBatches + "--split 1 --device-profile none --device-profile ./small.json";
const Words kOneTrial = sweep_of("synthetic:0ms/4kB,0ms/64kB,0ms") + kOnSmall;

/// Where the device called small is what the text says.
struct DeviceShell : Shell {
  explicit DeviceShell(const std::string& profile) { write("small.json", profile); }
};

constexpr const char* kHalf = R"({"cpu_quota": 0.5})";
constexpr const char* kLittleMemory = R"({"memory_limit": "48 MiB"})";

/// Skips the test case where this machine has no cgroups for this user, which the driver must say.
void need_cgroups(const support::Outcome& outcome) {
  if (outcome.exit_code != 3) return;
  check_contains(outcome.errors, {"emulate a device: ", "run as root"});
  support::skip(outcome.errors);
}

/// Cgroups of drivers, where this process' own are: the driver's, too, which it was started by.
std::vector<std::filesystem::path> driver_cgroups() {
  std::vector<std::filesystem::path> found;
  for (const auto* controller : {"cpu", "memory"}) {
    const auto place = launch::find_cgroup(controller, text_of("/proc/self/cgroup"), text_of("/proc/self/mountinfo"));
    for (const auto& entry : std::filesystem::directory_iterator(place.folder)) {
      if (entry.path().filename().string().starts_with("paretopipe-")) found.push_back(entry.path());
    }
  }
  return found;
}

}  // namespace

TEST_CASE(
    "threads and CPUs of an emulated device need no cgroup, are the stage's and part of a trial's identity, and are "
    "named in tables, explanations, exports and plans") {
  const DeviceShell shell(R"({"threads": 1})");
  CHECK(contains(shell.run(kOneTrial + "--dry-run").output, "on none, small"));
  shell.run(0, kOneTrial);
  const std::string words = "none | emulated device small (1 thread)";
  CHECK(contains(shell.run("frontier out").output, words));
  CHECK(contains(shell.run("explain out").output, words));
  export_in(shell, {"trials"});
  CHECK(contains(shell.text("exported/trials.csv"), words));

  shell.write("small.json", R"({"threads": 2, "cpus": [0]})");
  shell.run(0, kOneTrial + "--resume");
  const auto records = shell.records();
  REQUIRE(records.size() == 2);
  CHECK(records[0].trial.devices.at(1).threads == 1);
  CHECK(records[1].trial.devices.at(1).threads == 2);
  CHECK(records[1].stages[1].cpus == "0");
  for (const auto& record : records) {
    CHECK_FALSE(record.stages[0].emulated_device.has_value());
    REQUIRE(record.stages[1].emulated_device.has_value());
    CHECK(record.stages[1].emulated_device->profile == "small");
    CHECK(record.stages[1].emulated_device->device == 1);
    CHECK_FALSE(record.stages[1].emulated_device->cgroup_version.has_value());
  }
}

TEST_CASE("a quota of CPU time is on the stage of its device alone, as the kernel reads it back", "[needs:cgroups]") {
  const DeviceShell shell(kHalf);
  const auto sweep = shell.run(kOneTrial);
  INFO(sweep.errors);
  need_cgroups(sweep);
  REQUIRE(sweep.exit_code == 0);
  const auto record = shell.records().at(0);
  CHECK_FALSE(record.stages[0].emulated_device.has_value());
  REQUIRE(record.stages[1].emulated_device.has_value());
  CHECK(record.stages[1].emulated_device->cpu_quota == Approx(0.5));
  CHECK(record.stages[1].emulated_device->cgroup_version.has_value());
  CHECK(driver_cgroups().empty());
}

TEST_CASE("stages of one device share its quota", "[needs:cgroups]") {
  const DeviceShell shell(kHalf);
  const auto sweep = shell.run(sweep_of("synthetic:0ms/4kB,0ms/64kB,0ms") +
                               "--batches 4 --repeat 1 --stages 3 --partitions 1,2 --placement 0,1,0 "
                               "--device-profile ./small.json --device-profile none");
  INFO(sweep.errors);
  need_cgroups(sweep);
  const auto record = shell.records().at(0);
  CHECK(record.stages.at(0).emulated_device == record.stages.at(2).emulated_device);
  CHECK(record.stages.at(0).emulated_device.has_value());
  CHECK_FALSE(record.stages.at(1).emulated_device.has_value());
  CHECK(driver_cgroups().empty());
}

TEST_CASE("no cgroup stays behind a sweep in which a stage was killed", "[needs:cgroups]") {
  const DeviceShell shell(kHalf);
  const support::FaultOnce fault("kill@1-3@3");
  const auto sweep = shell.run(kOneTrial);
  INFO(sweep.errors);
  need_cgroups(sweep);
  CHECK(sweep.exit_code == 1);
  REQUIRE(shell.records().at(0).failure.has_value());
  const auto reason = shell.records().at(0).failure->reason;
  CHECK(contains(reason, "was killed by signal 9"));
  CHECK_FALSE(contains(reason, "memory limit"));
  CHECK(driver_cgroups().empty());
}

TEST_CASE("no cgroup stays behind a sweep that is interrupted, and the next sweep removes a killed one's",
          "[needs:cgroups]") {
  const int signal = GENERATE(SIGINT, SIGKILL);
  const DeviceShell shell(kHalf);
  need_cgroups(shell.run(kOneTrial + "--dry-run"));
  const support::FaultOnce hang("hang@1-3@3");  // the sweep is in the middle of a trial, and stays there
  auto sweep = shell.start(kOneTrial);
  REQUIRE(support::wait_until_written(hang.marker()));
  CHECK_FALSE(driver_cgroups().empty());
  const auto stages = support::watch(support::children_of(sweep.pid()));
  ::kill(sweep.pid(), signal);
  sweep.wait();
  REQUIRE(support::all_ended(stages));
  if (signal == SIGKILL) shell.run(0, kOneTrial + "--resume");
  CHECK(driver_cgroups().empty());
}

TEST_CASE("a memory limit is read back, and a stage that goes over it is named with it", "[needs:virtual_machine]") {
  need_virtual_machine();
  const DeviceShell shell(kLittleMemory);
  shell.run(0, kOneTrial);
  CHECK(shell.records().at(0).stages[1].emulated_device->memory_limit_bytes == 48 << 20);

  shell.run(1, sweep_of("synthetic:0ms/4kB,0ms/96MB,0ms") + kOnSmall + "--resume");
  const auto failed = shell.records().at(1);
  REQUIRE(failed.failure.has_value());
  INFO(failed.failure->reason);
  CHECK(failed.failure->stage == 1);
  CHECK(contains(failed.failure->reason, "over its memory limit of 48.0 MiB (device profile small)"));
  CHECK(driver_cgroups().empty());
}

TEST_CASE("a device with little memory needs no more than its own blocks do, also where the inputs come from",
          "[needs:virtual_machine]") {
  need_virtual_machine();
  const DeviceShell shell(kLittleMemory);
  shell.run(0, sweep_of("synthetic:0ms/4kB,0ms/96MB,0ms") +
                   "--batches 4 --repeat 1 --split 1 --device-profile ./small.json --device-profile none");
  const auto record = shell.records().at(0);
  CHECK(record.stages[0].emulated_device->memory_limit_bytes == 48 << 20);
  CHECK(record.stages[0].memory->total() < 1'000'000);
  CHECK(record.stages[1].memory->total() > 96'000'000);
}

TEST_CASE("device profiles that cannot be are a sentence, and nothing is made") {
  check_refused(
      DeviceShell(R"({"cpus": [0], "threads": 1})"), kSweep + "--device-profile",
      {{"pi", "one for each of the 2 devices"},
       {"pie --device-profile none", "did you mean \"pi\"?"},
       {"no/such.json --device-profile none", "no/such.json"},
       {"./small.json --device-profile none --cpus 0 --cpus 0", "names the CPUs 0, and so does experiment.cpus"},
       {"./small.json --device-profile ./small.json --threads-per-stage 1,2",
        "experiment.threads_per_stage is for devices"}});
}

TEST_CASE("two stage programs take turns on a device with limits, which is there once", "[needs:cgroups]") {
  const DeviceShell shell(kHalf);
  shell.write("other-stage", std::string("#!/bin/sh\nexec '") + PARETOPIPE_BIN_DIR + "/fake-stage' \"$@\"\n");
  std::filesystem::permissions(shell.folder() / "other-stage", std::filesystem::perms::owner_all);
  const auto sweep = shell.run(kOneTrial + "--against ./other-stage");
  need_cgroups(sweep);
  INFO(sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  const auto base = record::read_records(shell.folder() / "out" / "base").records;
  REQUIRE(base.size() == 1);
  CHECK(record::side_by_side(base[0], shell.records().at(0)));
  CHECK(base[0].stages[1].emulated_device->cpu_quota == Approx(0.5));
  CHECK(driver_cgroups().empty());
}
