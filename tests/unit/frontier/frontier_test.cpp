#include <paretopipe/analysis/frontier/frontier.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
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
