// How the clocks of replicas are compared, which send each other no frames: by the sums of their gradients.
#include <paretopipe/run/trial_clocks.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace paretopipe;

namespace {

constexpr std::int64_t kAhead = 86'400'000'000'000;
constexpr std::int64_t kStepTakes = 10'000'000, kSlowest = 700'000, kSumTakes = 40'000;

/// What three replicas report of 200 steps, each by a clock that is a day ahead of the one before. Replica 1 has its
/// gradients last, and a sum is there 40 us later.
std::vector<stage::TrainReport> reports_of_replicas() {
  std::vector<stage::TrainReport> reports(3);
  for (std::size_t replica = 0; replica < reports.size(); ++replica) {
    auto& moments = reports[replica].moments;
    const auto ahead = static_cast<std::int64_t>(replica) * kAhead;
    for (int step = 0; step < 200; ++step) {
      const auto slowest_begins = step * kStepTakes + kSlowest;
      moments.reduce_begin.push_back(ahead + (replica == 1 ? slowest_begins : step * kStepTakes + 1000 * (step % 7)));
      moments.reduce_end.push_back(ahead + slowest_begins + kSumTakes + 100 * (step % 11));
    }
  }
  return reports;
}

std::vector<stage::Configured> on_hosts_of_their_own(std::size_t count) {
  std::vector<stage::Configured> configured(count);
  for (std::size_t i = 0; i < count; ++i) configured[i].host.boot_id = "host " + std::to_string(i);
  return configured;
}

}  // namespace

TEST_CASE("the clocks of replicas are compared by their sums, which nobody has before all have given their share") {
  const auto reports = reports_of_replicas();
  const run::TrialClocks clocks(on_hosts_of_their_own(3), reports);
  CHECK_FALSE(clocks.adjusted());
  CHECK(clocks.relation(0).same_clock);
  for (int replica = 1; replica < 3; ++replica) {
    const auto relation = clocks.relation(static_cast<std::size_t>(replica));
    CHECK_FALSE(relation.same_clock);
    CHECK(std::abs(relation.offset_before_ns + replica * kAhead) <= relation.error_bound_ns);
    // Half of the time from one's share to the other's sum, there and back.
    const auto there_and_back = replica == 1 ? kSlowest + 2 * kSumTakes : 2 * (kSlowest + kSumTakes);
    CHECK(relation.error_bound_ns <= there_and_back / 2 + 5'000);
    CHECK(relation.error_bound_ns >= there_and_back / 2 - 10'000);
  }
}

TEST_CASE("a replica whose clock is stepped makes the trial invalid") {
  auto reports = reports_of_replicas();
  for (std::size_t step = 100; step < 200; ++step) {
    reports[2].moments.reduce_begin[step] += 3'000'000;
    reports[2].moments.reduce_end[step] += 3'000'000;
  }
  const auto adjusted = run::TrialClocks(on_hosts_of_their_own(3), reports).adjusted();
  REQUIRE(adjusted);
  CHECK(adjusted->stage == 2);
}
