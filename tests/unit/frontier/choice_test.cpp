#include <paretopipe/analysis/frontier/choice.hpp>

#include <algorithm>
#include <random>

#include <support/catch.hpp>

using namespace paretopipe::frontier;

namespace {

using Row = std::vector<double>;
using Regrets = std::vector<Row>;

std::optional<std::size_t> knee_of(const std::vector<Sense>& senses, const std::vector<Row>& rows) {
  Points points(senses);
  for (const auto& row : rows) points.add(std::vector<std::optional<double>>(row.begin(), row.end()));
  return find_knee(points, find_frontier(points).members);
}

}  // namespace

TEST_CASE("regret is the ratio to the best, so that half the throughput weighs as much as twice the latency") {
  CHECK(relative_regret(Sense::minimise, Row{10, 20, 15}) == Row{0, 1, 0.5});
  CHECK(relative_regret(Sense::maximise, Row{100, 50, 80}) == Row{0, 1, 0.25});
  CHECK(relative_regret(Sense::minimise, Row{7, 7}) == Row{0, 0});
  CHECK(relative_regret(Sense::minimise, Row{}).empty());
}

TEST_CASE("regret of values that are not all positive is the share of the way to the worst") {
  CHECK(relative_regret(Sense::minimise, Row{0, 50, 200}) == Row{0, 0.25, 1});
  CHECK(relative_regret(Sense::maximise, Row{0, 50, 200}) == Row{1, 0.75, 0});
  CHECK(relative_regret(Sense::minimise, Row{0, 0}) == Row{0, 0});
  CHECK(relative_regret(Sense::maximise, Row{-1, 1}) == Row{1, 0});
}

TEST_CASE("the least worst option says what its worst case is") {
  const auto choice = least_worst(Regrets{{0, 0.3, 2}, {1.5, 0.4, 0}}).value();
  CHECK(choice.option == 1);
  CHECK(choice.worst_regret == 0.4);
  CHECK(choice.worst_case == 1);
}

TEST_CASE("among equally bad options the one with the smaller sum is least worst, then the first") {
  CHECK(least_worst(Regrets{{0.5, 0.5, 0.5}, {0.3, 0.1, 0.1}}).value().option == 1);
  CHECK_FALSE(least_worst(Regrets{}).has_value());
  CHECK_FALSE(least_worst(Regrets{{}, {}}).has_value());
  CHECK(least_worst(Regrets{{0}}).value().worst_regret == 0);
}

TEST_CASE("worst regrets that noise would decide between are decided by the others") {
  // Half the throughput, give or take nothing: the second has the better latency by far.
  CHECK(least_worst(Regrets{{1.310, 1.312}, {0.57, 0}}).value().option == 1);
  CHECK(least_worst(Regrets{{1.310, 1.312}, {0.57, 0}}).value().worst_regret == 1.312);
  CHECK(least_worst(Regrets{{1.310, 1.370}, {0.57, 0}}).value().option == 0);
  // Each is worst in another case: there the smaller one counts, however close.
  CHECK(least_worst(Regrets{{0.300, 0.1}, {0.1, 0.301}}).value().option == 0);
  // The third is as good as the second in every case, and worst in another one.
  CHECK(least_worst(Regrets{{1.310, 1.312, 1.3}, {1.30, 0.1, 0.1}, {1.30, 1.311, 1.311}}).value().option == 2);
}

TEST_CASE("the least worst option is never dominated") {
  std::mt19937 random(31);
  for (int round = 0; round < 200; ++round) {
    Regrets regrets(3, Row(12));
    for (auto& row : regrets) {
      for (auto& value : row) value = static_cast<double>(random() % 5) * 0.01;  // many are equally bad
    }
    Points points(std::vector<Sense>(3, Sense::minimise));
    for (std::size_t option = 0; option < 12; ++option) {
      points.add(std::vector<std::optional<double>>{regrets[0][option], regrets[1][option], regrets[2][option]});
    }
    const auto members = find_frontier(points).members;
    CHECK(std::binary_search(members.begin(), members.end(), least_worst(regrets).value().option));
  }
}

TEST_CASE("the knee is the member farthest from the line between the ends, towards the ideal") {
  // Scaled, 2 is at (0.2, 0.1) and 3 at (0.5, 0.05): sums 0.3 and 0.55.
  const std::vector<Row> rows{{10, 100}, {0, 200}, {2, 110}, {5, 105}, {9, 199}};
  CHECK(knee_of({Sense::minimise, Sense::minimise}, rows) == 2);
  auto turned = rows;
  for (auto& row : turned) row[1] = -row[1] * 1024;
  CHECK(knee_of({Sense::minimise, Sense::maximise}, turned) == 2);
}

TEST_CASE("a frontier that is straight, bulges away from the ideal or has fewer than three points has no knee") {
  const std::vector<Sense> less{Sense::minimise, Sense::minimise};
  CHECK_FALSE(knee_of(less, {{0, 4}, {1, 3}, {2, 2}, {4, 0}}));
  CHECK_FALSE(knee_of(less, {{0, 4}, {3, 3}, {4, 0}}));
  CHECK_FALSE(knee_of(less, {{0, 4}, {4, 0}}));
  CHECK_FALSE(knee_of(less, {{1, 1}}));
  CHECK_FALSE(knee_of(less, {{1, 1}, {1, 1}, {1, 1}}));
  CHECK_FALSE(knee_of(less, {}));
}

TEST_CASE("three objectives have a knee as well, and it does not depend on units or order") {
  const std::vector<Sense> senses{Sense::minimise, Sense::maximise, Sense::minimise};
  const std::vector<Row> rows{{0, 0, 10}, {10, 10, 10}, {10, 0, 0}, {2, 8, 2}, {4, 6, 4}};
  CHECK(knee_of(senses, rows) == 3);
  auto other = rows;
  std::reverse(other.begin(), other.end());
  for (auto& row : other) row[0] = row[0] * 64 - 7;
  CHECK(knee_of(senses, other) == 1);
}
