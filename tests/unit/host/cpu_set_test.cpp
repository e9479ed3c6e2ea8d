#include <paretopipe/core/error.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <stdexcept>
#include <string>
#include <thread>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::host;

namespace {

/// Runs `body` on a thread of its own, so that the affinity of the test's thread stays as it was.
template <class Body>
void on_a_thread(Body body) {
  std::thread(body).join();
}

}  // namespace

TEST_CASE("a CPU list is read as the kernel writes it", "[cpu_set]") {
  CHECK(parse_cpu_list("0") == CpuSet{0});
  CHECK(parse_cpu_list("0-3,8") == CpuSet{0, 1, 2, 3, 8});
  CHECK(parse_cpu_list("8191") == CpuSet{8191});
  CHECK(to_string(parse_cpu_list("8,0-3")) == "0-3,8");
}

TEST_CASE("what is not a CPU list is a usage error that shows how to write one", "[cpu_set]") {
  const auto* text = GENERATE("", "all", "0-", "3-0", "-1", "0,,1", "0 1", "8192", "0-4294967295", "99999999999");
  CAPTURE(text);
  CHECK_THAT(support::message_of<UsageError>([&] { parse_cpu_list(text); }),
             Catch::Matchers::EndsWith("is not a list of CPUs; write it like 0, 0-3 or 0-3,8"));
}

TEST_CASE("CPUs are dealt out in disjoint, consecutive sets, the remainder to the first stages", "[cpu_set]") {
  CHECK(deal_cpus({0, 1}, 2) == std::vector<CpuSet>{{0}, {1}});
  CHECK(deal_cpus({0, 1, 2, 3, 4}, 2) == std::vector<CpuSet>{{0, 1, 2}, {3, 4}});
  CHECK(deal_cpus({1, 3, 5, 7, 9, 11, 13, 15}, 3) == std::vector<CpuSet>{{1, 3, 5}, {7, 9, 11}, {13, 15}});
  CHECK(deal_cpus({4}, 1) == std::vector<CpuSet>{{4}});
  // With fewer CPUs than stages the CPUs are shared in turn.
  CHECK(deal_cpus({2}, 3) == std::vector<CpuSet>{{2}, {2}, {2}});
  CHECK(deal_cpus({0, 5}, 5) == std::vector<CpuSet>{{0}, {5}, {0}, {5}, {0}});
  CHECK_THROWS_AS(deal_cpus({}, 2), std::invalid_argument);
  CHECK_THROWS_AS(deal_cpus({0}, 0), std::invalid_argument);
}

TEST_CASE("a thread that is pinned to a CPU reads that CPU back, and so do the threads that it starts", "[cpu_set]") {
  const auto before = current_affinity();
  REQUIRE_FALSE(before.empty());
  const CpuSet last{before.back()};
  CpuSet pinned, inherited;
  on_a_thread([&] {
    set_affinity(last);
    pinned = current_affinity();
    on_a_thread([&] { inherited = current_affinity(); });
  });
  CHECK(pinned == last);
  CHECK(inherited == last);
  CHECK(current_affinity() == before);
}

TEST_CASE("a CPU that the machine does not have is refused by name, and the affinity stays as it was", "[cpu_set]") {
  const auto before = current_affinity();
  REQUIRE(before.back() < 8191);
  std::string alone, mixed;
  CpuSet after;
  on_a_thread([&] {
    alone = support::message_of<EnvironmentError>([] { set_affinity({8191}); });
    mixed = support::message_of<EnvironmentError>([&] { set_affinity({before.front(), 8191}); });
    after = current_affinity();
  });
  CHECK(support::contains(alone, "run on CPUs 8191"));
  for (const auto& message : {alone, mixed}) CHECK(support::contains(message, "does not allow, CPU 8191;"));
  CHECK(after == before);
  for (const auto& defect : {CpuSet{}, CpuSet{-1}, CpuSet{8192}}) {
    CHECK_THROWS_AS(set_affinity(defect), std::invalid_argument);
  }
}

TEST_CASE("CPUs are to spare if threads leave some of them, and of the quota on them", "[cpu_set]") {
  CHECK(has_cpu_to_spare("0-1", {}, 1));
  CHECK_FALSE(has_cpu_to_spare("0-1", {}, 2));
  CHECK_FALSE(has_cpu_to_spare("3", {}, 1));
  CHECK_FALSE(has_cpu_to_spare("0-3", 0.25, 1));
  CHECK(has_cpu_to_spare("0-3", 2.0, 1));
  CHECK_FALSE(has_cpu_to_spare("3", 2.0, 1));
}
