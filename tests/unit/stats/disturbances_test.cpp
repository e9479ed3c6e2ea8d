#include <paretopipe/analysis/stats/disturbances.hpp>

#include <string>
#include <vector>

#include <support/catch.hpp>

#include "samples.hpp"

using namespace paretopipe;
using Sentences = std::vector<std::string>;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Two stages on CPUs of their own that used 0.4 s each of one second, on cores of constant speed.
record::TrialRecord calm_record() {
  auto record = testing::make_record(testing::make_trial(3), {5000, 4000, 3000, 2000, 0}, 8000);
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    auto& stage = record.stages[i];
    stage.cpus = std::to_string(i);
    stage.usage.user_time_ns = 4 * kSecond / 10;
    stage.conditions = host::CpuConditions{1000, 1000, host::CpuTime{kSecond, 4 * kSecond / 10, 0}};
  }
  return record;
}

}  // namespace

TEST_CASE("a trial that had its CPUs to itself has no disturbances", "[disturbances]") {
  CHECK(stats::disturbances(calm_record()).empty());
}

TEST_CASE("CPU time of other processes is a disturbance from a tenth of the trial on", "[disturbances]") {
  auto record = calm_record();
  record.stages[1].conditions->time->busy_ns += kSecond / 10;
  CHECK(stats::disturbances(record).empty());
  record.stages[1].conditions->time->busy_ns += kSecond / 10;
  CHECK(stats::disturbances(record) == Sentences{"other processes used 20 % of stage 1's CPUs (1)"});
}

TEST_CASE("no more than all of a CPU is said to be used, whatever the kernel's ticks come to", "[disturbances]") {
  auto record = calm_record();
  record.stages[0].conditions->time->busy_ns = 17 * kSecond / 10;
  CHECK(stats::disturbances(record) == Sentences{"other processes used 100 % of stage 0's CPUs (0)"});
}

TEST_CASE("what the host of a virtual machine took is a disturbance", "[disturbances]") {
  auto record = calm_record();
  record.stages[0].conditions->time->stolen_ns = kSecond / 4;
  CHECK(stats::disturbances(record) == Sentences{"the virtual machine's host took 25 % of stage 0's CPUs (0)"});
}

TEST_CASE("stages that share CPUs do not disturb each other", "[disturbances]") {
  auto record = calm_record();
  for (auto& stage : record.stages) {
    stage.cpus = record.stages[0].cpus;
    stage.conditions->time->busy_ns = 8 * kSecond / 10;
  }
  CHECK(stats::disturbances(record).empty());
}

TEST_CASE("the relay of an emulated network is no other process, but a thief is one all the same", "[disturbances]") {
  auto record = calm_record();
  record.trial.shaping = experiment::Shaping::emulated;
  record.stages[0].conditions->time->busy_ns = kSecond;
  CHECK(stats::disturbances(record).empty());
  record.stages[0].conditions->time->stolen_ns = kSecond / 2;
  CHECK(stats::disturbances(record).size() == 1);
}

TEST_CASE("two ticks of the kernel's clock are never a disturbance, however short the trial", "[disturbances]") {
  auto record = calm_record();
  for (auto& stage : record.stages) {
    stage.usage.user_time_ns = 0;
    stage.conditions->time = host::CpuTime{30'000'000, 20'000'000, 20'000'000};
  }
  CHECK(stats::disturbances(record).empty());
}

TEST_CASE("a core that changed its speed is a disturbance, in both directions", "[disturbances]") {
  auto record = calm_record();
  record.stages[0].conditions->probe_after_ns = 1300;
  record.stages[1].conditions->probe_before_ns = 1200;
  CHECK(stats::disturbances(record) == Sentences{"stage 0's core became 30 % slower during the trial",
                                                 "stage 1's core became 20 % faster during the trial"});
}

TEST_CASE("pages read from disk are a disturbance", "[disturbances]") {
  auto record = calm_record();
  record.stages[1].usage.major_page_faults = 3;
  CHECK(stats::disturbances(record) == Sentences{"stage 1 waited 3 times for pages from disk"});
}

TEST_CASE("what an emulated device is held to by intention is no disturbance, and its neighbour's is one",
          "[disturbances]") {
  auto record = calm_record();
  for (auto& stage : record.stages) {
    stage.conditions->probe_after_ns = 2000;
    stage.usage.major_page_faults = 7;
  }
  REQUIRE(stats::disturbances(record).size() == 4);
  record.stages[1].emulated_device = record::EmulatedDevice{.profile = "pi", .device = 1};
  CHECK(stats::disturbances(record).size() == 4);  // a name restricts nothing
  record.stages[1].emulated_device->cpu_quota = 0.5;
  CHECK(stats::disturbances(record).size() == 3);
  record.stages[1].emulated_device->memory_limit_bytes = 1;
  CHECK(stats::disturbances(record).size() == 2);
}

TEST_CASE("of older records, which do not know their conditions, nothing is said", "[disturbances]") {
  auto record = calm_record();
  for (auto& stage : record.stages) stage.conditions.reset();
  CHECK(stats::disturbances(record).empty());
}
