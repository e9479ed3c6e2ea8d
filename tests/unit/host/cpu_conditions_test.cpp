#include <paretopipe/core/clock.hpp>
#include <paretopipe/host/compute_probe.hpp>
#include <paretopipe/host/cpu_conditions.hpp>
#include <paretopipe/host/process_usage.hpp>

#include <support/catch.hpp>

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
  // 15 pieces, of which the probe is the median: at least seven took that long or longer.
  CHECK(used.user_time_ns + used.system_time_ns + 20'000'000 >= 7 * probe);
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

TEST_CASE("conditions come back from their JSON as they were, with and without CPU time", "[conditions]") {
  for (const auto& conditions : {CpuConditions{1, 2, CpuTime{3, 4, 5}}, CpuConditions{1, 2, std::nullopt}}) {
    CHECK(nlohmann::json(conditions).get<CpuConditions>() == conditions);
  }
}
