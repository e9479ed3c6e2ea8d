#include <paretopipe/analysis/frontier/frontier.hpp>

#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>

#include <support/catch.hpp>

using namespace paretopipe::frontier;

namespace {

using PartialRow = std::vector<std::optional<double>>;
using PartialMatrix = std::vector<PartialRow>;
using Indices = std::vector<std::size_t>;

Frontier frontier_of(const std::vector<Sense>& senses, const PartialMatrix& rows) {
  Points points(senses);
  for (const auto& row : rows) points.add(row);
  return find_frontier(points);
}

/// The definition, word for word, on the values as they were given.
bool beats(const std::vector<Sense>& senses, const PartialRow& a, const PartialRow& b) {
  bool better_in_one = false;
  for (std::size_t i = 0; i < senses.size(); ++i) {
    const double advantage = senses[i] == Sense::maximise ? *a[i] - *b[i] : *b[i] - *a[i];
    if (advantage < 0) return false;
    if (advantage > 0) better_in_one = true;
  }
  return better_in_one;
}

bool lacks_one(const PartialRow& row) {
  return std::find(row.begin(), row.end(), std::nullopt) != row.end();
}

Indices brute_force(const std::vector<Sense>& senses, const PartialMatrix& rows) {
  Indices members;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (lacks_one(rows[i])) continue;
    const bool beaten = std::any_of(rows.begin(), rows.end(), [&](const PartialRow& other) {
      return !lacks_one(other) && beats(senses, other, rows[i]);
    });
    if (!beaten) members.push_back(i);
  }
  return members;
}

/// Every other point is beaten by the member that it names, and no member by a member (of many, some are looked at): so
/// by nothing, since what beats a member would itself be a member or beaten by one.
void require_frontier(const std::vector<Sense>& senses, const PartialMatrix& rows) {
  const auto frontier = frontier_of(senses, rows);
  const auto& members = frontier.members;
  REQUIRE(frontier.dominator.size() == rows.size());
  REQUIRE(std::is_sorted(members.begin(), members.end()));
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool member = std::binary_search(members.begin(), members.end(), i);
    const bool incomplete = std::binary_search(frontier.incomplete.begin(), frontier.incomplete.end(), i);
    const auto dominator = frontier.dominator[i];
    const bool beaten = dominator && std::binary_search(members.begin(), members.end(), *dominator) &&
                        beats(senses, rows[*dominator], rows[i]);
    if (incomplete != lacks_one(rows[i]) || member + incomplete + beaten != 1) wrong.push_back(i);
  }
  for (std::size_t m = 0; m < members.size(); m += 1 + members.size() / 200) {
    const auto& row = rows[members[m]];
    if (std::any_of(members.begin(), members.end(), [&](auto other) { return beats(senses, rows[other], row); })) {
      wrong.push_back(members[m]);
    }
  }
  REQUIRE(wrong == Indices{});
}

std::vector<Sense> random_senses(std::mt19937& random, std::size_t objectives) {
  std::vector<Sense> senses;
  for (std::size_t i = 0; i < objectives; ++i) senses.push_back(random() % 2 ? Sense::minimise : Sense::maximise);
  return senses;
}

/// Few distinct values make ties and equal points; many make none.
PartialMatrix random_matrix(std::mt19937& random, std::size_t points, std::size_t objectives, int distinct,
                            bool with_gaps) {
  std::uniform_int_distribution<int> value(0, distinct - 1);
  PartialMatrix rows(points, PartialRow(objectives));
  for (auto& row : rows) {
    for (auto& cell : row) {
      if (!with_gaps || random() % 10 != 0) cell = value(random) - distinct / 2;
    }
  }
  return rows;
}

const std::vector<Sense> kLatencyAndThroughput{Sense::minimise, Sense::maximise};

}  // namespace

TEST_CASE("the frontier is what the definition says, for one to five objectives, with ties, duplicates and gaps") {
  std::mt19937 random(11);
  for (std::size_t objectives = 1; objectives <= 5; ++objectives) {
    for (const int distinct : {1, 2, 3, 8, 30, 1'000'000}) {
      for (const std::size_t points : {0, 1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 1000}) {
        const auto senses = random_senses(random, objectives);
        const auto rows = random_matrix(random, points, objectives, distinct, points % 2 == 0);
        REQUIRE(frontier_of(senses, rows).members == brute_force(senses, rows));
        require_frontier(senses, rows);
      }
    }
  }
}

TEST_CASE("small sets of points have the frontier that one sees") {
  const double infinity = std::numeric_limits<double>::infinity();
  PartialMatrix trading, agreeing;
  Indices all;
  for (int i = 0; i < 20; ++i) {
    trading.push_back({i, i});
    agreeing.push_back({i, -i});
    all.push_back(static_cast<std::size_t>(i));
  }
  for (const auto& [rows, members] : std::vector<std::pair<PartialMatrix, Indices>>{
           {{}, {}},
           {{{3, 4}}, {0}},
           {{{10, 5}, {10, 6}, {12, 6}}, {1}},  // a tie in one objective is decided by the other
           {{{10, 5}, {20, 5}, {10, 5}, {20, 5}, {10, 5}}, {0, 2, 4}},
           {{{infinity, 1}, {1, 1}, {infinity, infinity}}, {1, 2}},
           {{{-0.0, 5}, {0.0, 5}, {-0.0, 6}, {0.0, 6}}, {2, 3}},  // minus zero is zero
           {trading, all},                                        // on one line
           {agreeing, {0}}}) {
    CAPTURE(rows.size());
    CHECK(frontier_of(kLatencyAndThroughput, rows).members == members);
    require_frontier(kLatencyAndThroughput, rows);
  }
  CHECK(frontier_of(std::vector(3, Sense::minimise), {{1, -0.0, 5}, {1, 0.0, 3}, {0, 0.0, 4}}).members ==
        Indices{1, 2});
  // One that lacks an objective is reported and hides no other.
  const auto frontier = frontier_of(kLatencyAndThroughput, {{1, std::nullopt}, {5, 5}, {std::nullopt, 9}, {6, 4}});
  CHECK(frontier.members == Indices{1});
  CHECK(frontier.incomplete == Indices{0, 2});
  CHECK(frontier.dominator == std::vector<std::optional<std::size_t>>{{}, {}, {}, 1});
}

/// So many that points are discarded and sorted in the ways that pay for many only.
constexpr std::size_t kMany = 5000;

TEST_CASE("thousands of points, few or many of them equal, have the frontier of the definition") {
  std::mt19937 random(20);
  for (std::size_t objectives = 1; objectives <= 4; ++objectives) {
    for (const int distinct : {1, 3, 40, 1'000'000}) {
      const auto senses = random_senses(random, objectives);
      require_frontier(senses, random_matrix(random, kMany, objectives, distinct, distinct == 40));
    }
  }
}

TEST_CASE("thousands of points of which all or most trade are kept") {
  std::mt19937 random(21);
  for (std::size_t objectives = 2; objectives <= 3; ++objectives) {
    for (const double thickness : {0.0, 0.01, 0.3}) {
      PartialMatrix rows(kMany, PartialRow(objectives));
      for (auto& row : rows) {
        double sum = 0;
        for (auto& cell : row) sum += *(cell = std::uniform_real_distribution<double>(0.1, 1)(random));
        const double stretched = 1 + thickness * static_cast<double>(random() % 1000);
        for (auto& cell : row) *cell *= stretched / sum;
      }
      require_frontier(std::vector(objectives, Sense::minimise), rows);
    }
  }
}

TEST_CASE("thousands of numbers of any size are ordered, infinite, tiny, of either sign, or next to each other") {
  const double infinity = std::numeric_limits<double>::infinity();
  const double tiny = std::numeric_limits<double>::denorm_min();
  const std::vector<double> extremes{-infinity, -1e300, -1, -tiny, -0.0, 0.0, tiny, 1, 1e300, infinity};
  std::mt19937 random(22);
  for (std::size_t objectives = 1; objectives <= 4; ++objectives) {
    for (const bool mixed : {true, false}) {
      PartialMatrix rows(kMany, PartialRow(objectives));
      for (auto& row : rows) {
        const bool extreme = random() % (mixed ? 2 : 1000) == 0;
        for (auto& cell : row) {
          cell = extreme ? extremes[random() % extremes.size()] : 1 + static_cast<double>(random() % 100'000) * 0x1p-52;
        }
      }
      require_frontier(random_senses(random, objectives), rows);
    }
  }
}

TEST_CASE("NaN, a wrong number of values and no objective at all are refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Points points(kLatencyAndThroughput);
  CHECK_THROWS_AS(points.add(PartialRow{1, nan}), std::invalid_argument);
  CHECK_THROWS_AS(points.add(PartialRow{std::nullopt, nan}), std::invalid_argument);
  CHECK_THROWS_AS(points.add(PartialRow{1}), std::invalid_argument);
  CHECK_THROWS_AS(points.add(PartialRow{1, 2, 3}), std::invalid_argument);
  CHECK_THROWS_AS(Points({}), std::invalid_argument);
  CHECK(points.size() == 0);
}

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
