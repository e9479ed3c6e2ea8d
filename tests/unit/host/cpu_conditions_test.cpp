#include <paretopipe/core/clock.hpp>
#include <paretopipe/host/cpu_conditions.hpp>
#include <paretopipe/host/process_usage.hpp>

#include <support/catch.hpp>

#include "fake_machine.hpp"

using namespace paretopipe;
using namespace paretopipe::host;

namespace {

constexpr const char* kStat =
    "cpu  33 0 66 99 0 0 0 12\n"
    "cpu0 10 1 20 30 4 5 6 7 0 0\n"
    "cpu1 1 0 2 3 0 0 0 5 0 0\n"
    "cpu10 100 0 0 0 0 0 0 0 0 0\n"
    "intr 5 cpu2 7\n";

}  // namespace

TEST_CASE("CPU time is read from the lines of the asked CPUs only, in ticks of 10 ms", "[conditions]") {
  const auto first = parse_cpu_time(kStat, {0});
  REQUIRE(first);
  CHECK(first->busy_ns == (10 + 1 + 20 + 5 + 6) * 10'000'000LL);
  CHECK(first->stolen_ns == 7 * 10'000'000LL);
  const auto two = parse_cpu_time(kStat, {1, 10});
  REQUIRE(two);
  CHECK(two->busy_ns == 103 * 10'000'000LL);
  CHECK(two->stolen_ns == 5 * 10'000'000LL);
}

TEST_CASE("CPU time is absent where a CPU has no line, or a short one", "[conditions]") {
  CHECK_FALSE(parse_cpu_time(kStat, {2}).has_value());
  CHECK_FALSE(parse_cpu_time(kStat, {0, 2}).has_value());
  CHECK_FALSE(parse_cpu_time("cpu0 1 2 3\n", {0}).has_value());
  CHECK_FALSE(parse_cpu_time("cpu0 1 2 3 4 5 6 7 x\n", {0}).has_value());
  CHECK_FALSE(parse_cpu_time("", {0}).has_value());
}

TEST_CASE("the compute probe is work that takes its time on the CPU", "[conditions]") {
  const auto before = read_process_usage();
  const auto probe = compute_probe_ns();
  const auto used = read_process_usage() - before;
  CHECK(probe > 0);
  // 15 pieces, of which the probe is the median. Beside other processes each takes several times its time on the CPU.
  CHECK(used.user_time_ns + used.system_time_ns + 20'000'000 >= probe);
}

TEST_CASE("a watch reports both probes, and the CPU time between them without their own", "[conditions]") {
  const CpuWatch watch;
  const auto begin = now_ns();
  while (now_ns() < begin + 50'000'000) {
  }
  const auto conditions = watch.end();
  CHECK(conditions.probe_before_ns > 0);
  CHECK(conditions.probe_after_ns > 0);
  REQUIRE(conditions.time);
  CHECK(conditions.time->wall_ns >= 50'000'000);
  CHECK(conditions.time->busy_ns >= 0);
  CHECK(conditions.time->stolen_ns >= 0);
}

TEST_CASE("a watch reports how warm and how throttled the machine was before and after", "[conditions]") {
  FakeMachine machine;
  machine.write_zone(0, "cpu-thermal", "48312").write_throttled("0");
  const CpuWatch watch(machine.root());
  machine.write_zone(0, "cpu-thermal", "81000").write_throttled("80008");
  const auto conditions = watch.end();
  CHECK(conditions.temperature_before_celsius == 48.312);
  CHECK(conditions.temperature_after_celsius == 81.0);
  CHECK(conditions.throttled_before == 0U);
  CHECK(conditions.throttled_after == 0x80008U);
  CHECK(nlohmann::json::parse(nlohmann::json(conditions).dump()).get<CpuConditions>() == conditions);
}

TEST_CASE("the clock rate of CPUs is the mean of what each shows, and absent where one shows none", "[conditions]") {
  FakeMachine machine;
  machine.write_frequency(0, "1200000").write_frequency(3, "2000001");
  machine.write_frequency(4, "unknown").write_frequency(5, "0");
  CHECK(read_cpu_frequency_hz({3}, machine.root()) == 2'000'001'000);
  CHECK(read_cpu_frequency_hz({0, 3}, machine.root()) == 1'600'000'500);
  CHECK_FALSE(read_cpu_frequency_hz({0, 1}, machine.root()).has_value());
  CHECK_FALSE(read_cpu_frequency_hz({4}, machine.root()).has_value());
  CHECK_FALSE(read_cpu_frequency_hz({5}, machine.root()).has_value());
  CHECK_FALSE(read_cpu_frequency_hz({}, machine.root()).has_value());
}

TEST_CASE("conditions come back from their JSON as they were, with and without what not every machine tells",
          "[conditions]") {
  for (const auto& conditions : {CpuConditions{1, 2, CpuTime{3, 4, 5}, 6, 7}, CpuConditions{1, 2, std::nullopt}}) {
    CHECK(nlohmann::json(conditions).get<CpuConditions>() == conditions);
  }
}
