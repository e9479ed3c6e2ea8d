#include <paretopipe/experiment/partitions.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <support/catch.hpp>

using namespace paretopipe::experiment;
using Partitions = std::vector<SplitPoints>;

TEST_CASE("every partition comes once, in order, and as many as are counted", "[combinations]") {
  CHECK(every_partition(4, 2) == Partitions{{1}, {2}, {3}});
  CHECK(every_partition(4, 3) == Partitions{{1, 2}, {1, 3}, {2, 3}});
  CHECK(every_partition(3, 3) == Partitions{{1, 2}});
  CHECK(every_partition(2, 3).empty());
  for (int blocks = 1; blocks <= 12; ++blocks) {
    for (int stages = 2; stages <= 6; ++stages) {
      const auto partitions = every_partition(blocks, stages);
      CAPTURE(blocks, stages);
      CHECK(partitions.size() == count_partitions(blocks, stages));
      CHECK(std::is_sorted(partitions.begin(), partitions.end()));
      CHECK(std::set<SplitPoints>(partitions.begin(), partitions.end()).size() == partitions.size());
      for (const auto& cuts : partitions) {
        CHECK(std::adjacent_find(cuts.begin(), cuts.end(), std::greater_equal<>()) == cuts.end());
        CHECK((cuts.front() >= 1 && cuts.back() <= blocks - 1));
      }
    }
  }
}

TEST_CASE("counts are exact as far as the type goes, and then stay at its end", "[combinations]") {
  CHECK(count_partitions(20, 4) == 969);
  CHECK(count_partitions(35, 16) == 1855967520);
  CHECK(count_partitions(10000, 16) == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("a choice holds as many different partitions as asked for, and the same for the same seed",
          "[combinations]") {
  for (const int count : {1, 2, 50, 500, 900, 968}) {
    const auto chosen = some_partitions(20, 4, count, 7);
    CAPTURE(count);
    CHECK(chosen.size() == static_cast<std::size_t>(count));
    CHECK(std::set<SplitPoints>(chosen.begin(), chosen.end()).size() == chosen.size());
    CHECK(std::is_sorted(chosen.begin(), chosen.end()));
    CHECK(chosen == some_partitions(20, 4, count, 7));
    CHECK(chosen != some_partitions(20, 4, count, 8));
  }
  CHECK(some_partitions(20, 4, 969, 7) == every_partition(20, 4));
  CHECK(some_partitions(20, 4, 5000, 7) == every_partition(20, 4));
}

TEST_CASE("a choice is the same on every platform and release", "[combinations]") {
  CHECK(some_partitions(20, 4, 2, 1) == Partitions{{1, 16, 17}, {7, 10, 14}});
}

TEST_CASE("every partition is as likely to be chosen as any other", "[combinations]") {
  const auto all = every_partition(6, 3);  // ten
  for (const int count : {1, 8}) {         // drawn one by one, and shuffled
    std::map<SplitPoints, int> chosen;
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
      for (const auto& cuts : some_partitions(6, 3, count, seed)) ++chosen[cuts];
    }
    const double share = count / 10.0, expected = 4000 * share;
    REQUIRE(chosen.size() == all.size());
    // The draws are fixed, so this never flickers.
    for (const auto& [cuts, times] : chosen) CHECK(std::abs(times - expected) < 4 * std::sqrt(expected * (1 - share)));
  }
}
