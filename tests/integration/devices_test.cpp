// Emulated devices: cgroups of this process, and sweeps as from a shell. Limits need cgroups that may be written to:
// where there are none, what needs them is skipped, and said. tests/uml runs this with both versions of cgroups, in a
// virtual machine whose every cgroup is ours to move in.
#include <paretopipe/launch/cgroup.hpp>
#include <paretopipe/launch/child_process.hpp>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using launch::Cgroup;
using launch::CgroupParents;
using launch::CgroupVersion;
namespace fs = std::filesystem;

namespace {

/// Memory limits provoke the kernel's killer: only in a machine of its own.
void need_virtual_machine() {
  if (std::getenv("PARETOPIPE_UML") == nullptr) support::skip("tests/uml runs this");
}

/// The contents of a file of /proc or /sys, whose size nothing tells.
std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

launch::CgroupPlace own_place(const char* controller = "cpu") {
  return launch::find_cgroup(controller, text_of("/proc/self/cgroup"), text_of("/proc/self/mountinfo"));
}

/// This process, alone in a cgroup of its own as systemd-run would make it; back where it was at the end of life.
class OwnScope {
 public:
  OwnScope() : outside_(own_place().folder), inside_(outside_ / "scope") {
    std::ofstream(outside_ / "cgroup.subtree_control") << "+cpu +memory";
    fs::create_directory(inside_);
    std::ofstream(inside_ / "cgroup.procs") << ::getpid();
  }
  ~OwnScope() {
    std::ofstream(outside_ / "cgroup.procs") << ::getpid();
    ::rmdir(inside_.c_str());
    std::ofstream(outside_ / "cgroup.subtree_control") << "-cpu -memory";
  }
  const fs::path& folder() const { return inside_; }

 private:
  fs::path outside_;
  fs::path inside_;
};

std::string output_in(const Cgroup& cgroup, const std::string& script) {
  launch::ChildCommand command{{"/bin/sh", "-c", script}};
  command.cgroups = cgroup.descriptors();
  launch::ChildProcess child(command, FileDescriptor(::dup(STDERR_FILENO)));
  child.end(30'000);
  return child.output();
}

const Words kOnSmall =
    "--batches 4 --warmup 1 --repeat 1 --split 1 --device-profile none --device-profile ./small.json";
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
std::vector<fs::path> driver_cgroups() {
  std::vector<fs::path> found;
  for (const auto* controller : {"cpu", "memory"}) {
    for (const auto& entry : fs::directory_iterator(own_place(controller).folder)) {
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

TEST_CASE("a training that needs more memory than its device has fails by name, and the sweep goes on",
          "[needs:virtual_machine]") {
  need_virtual_machine();
  const DeviceShell shell(kLittleMemory);
  shell.run(1, sweep_of("synthetic:0ms/4kB,0ms/96MB,0ms") +
                   "--task train --steps 2 --warmup 0 --repeat 1 --split 1,3 --device-profile none --device-profile "
                   "./small.json");
  const auto records = shell.records();
  CHECK(count(records, record::Status::ok) == 1);
  for (const auto& record : records) {
    if (record.status == record::Status::ok) continue;
    INFO(record.failure->reason);
    CHECK(record.trial.split_points.front() == 1);
    CHECK(contains(record.failure->reason, "over its memory limit of 48.0 MiB (device profile small)"));
  }
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
  support::write_script(shell.folder() / "other-stage", "exec '" + kStage + "' \"$@\"");
  const auto sweep = shell.run(kOneTrial + "--against ./other-stage");
  need_cgroups(sweep);
  INFO(sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  const auto base = shell.records("out/base");
  REQUIRE(base.size() == 1);
  CHECK(record::side_by_side(base[0], shell.records().at(0)));
  CHECK(base[0].stages[1].emulated_device->cpu_quota == Approx(0.5));
  CHECK(driver_cgroups().empty());
}

TEST_CASE("a child is in the cgroup from its first instruction on, and the cgroup goes with its owner",
          "[needs:virtual_machine]") {
  need_virtual_machine();
  const CgroupParents parents(true, true);
  fs::path folder;
  {
    const Cgroup cgroup(parents, "test", {0.25, std::int64_t{64} << 20});
    CHECK(cgroup.applied() == launch::CgroupLimits{0.25, std::int64_t{64} << 20});
    CHECK(cgroup.memory_kills() == 0);
    folder = parents.cpu()->folder / ("paretopipe-" + std::to_string(::getpid()) + "-test");
    CHECK(fs::exists(folder));
    CHECK(contains(output_in(cgroup, "cat /proc/self/cgroup"), folder.filename().string()));
  }
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("under v2 a process alone in its cgroup makes room for others beside it, and comes back",
          "[needs:virtual_machine][cgroups-v2]") {
  need_virtual_machine();
  if (own_place().version != CgroupVersion::v2) support::skip("cgroups v1 have no such rule");
  const OwnScope scope;
  const bool memory =
      GENERATE(true, false);  // the kernel does not refuse cpu alone, but makes the cgroup one of threads
  {
    const CgroupParents parents(true, memory);
    CHECK(own_place().folder.parent_path() == scope.folder());
    const Cgroup cgroup(parents, "test", {0.5, std::nullopt});
    CHECK(contains(output_in(cgroup, "cat /proc/self/cgroup"), "/scope/paretopipe-"));
  }
  CHECK(own_place().folder == scope.folder());
  CHECK_FALSE(contains(text_of(scope.folder() / "cgroup.subtree_control"), "cpu"));
  for (const auto& entry : fs::directory_iterator(scope.folder())) CHECK_FALSE(entry.is_directory());
}

TEST_CASE("a share below a tenth is kept, with a longer period", "[needs:virtual_machine]") {
  need_virtual_machine();
  const CgroupParents parents(true, false);
  CHECK(Cgroup(parents, "test", {0.01, std::nullopt}).applied().cpus == Approx(0.01));
  CHECK(Cgroup(parents, "test", {3.5, std::nullopt}).applied().cpus == Approx(3.5));
}

TEST_CASE("a busy process with a quota is made to stand still", "[needs:virtual_machine]") {
  need_virtual_machine();
  const CgroupParents parents(true, false);
  const Cgroup cgroup(parents, "test", {0.1, std::nullopt});
  const auto stat = parents.cpu()->folder / ("paretopipe-" + std::to_string(::getpid()) + "-test") / "cpu.stat";
  // As long as it takes: it counts until the kernel says that it has held it up.
  output_in(cgroup, "while grep -q 'nr_throttled 0' " + stat.string() +
                        "; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; done");
  CHECK_FALSE(contains(text_of(stat), "nr_throttled 0\n"));
}
