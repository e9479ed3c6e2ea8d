#include <paretopipe/analysis/frontier/hypervolume.hpp>

#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>

#include <support/catch.hpp>

using namespace paretopipe::frontier;

namespace {

using Row = std::vector<double>;
using Matrix = std::vector<Row>;

Points points_of(const std::vector<Sense>& senses, const Matrix& rows) {
  Points points(senses);
  for (const auto& row : rows) points.add(std::vector<std::optional<double>>(row.begin(), row.end()));
  return points;
}

std::vector<Sense> all_less(std::size_t objectives) {
  return std::vector<Sense>(objectives, Sense::minimise);
}

/// Counts the unit cells of {0 … side - 1}^d that a point of whole coordinates dominates, up to a reference at `side`.
double count_cells(const Matrix& rows, std::size_t objectives, int side) {
  double count = 0;
  std::vector<int> cell(objectives, 0);
  while (true) {
    const bool dominated = std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
      return std::equal(row.begin(), row.end(), cell.begin(), [](double value, int at) { return value <= at; });
    });
    count += dominated;
    std::size_t i = 0;
    while (i < objectives && ++cell[i] == side) cell[i++] = 0;
    if (i == objectives) return count;
  }
}

/// The volume of a union of boxes: of every subset its common box, added where the subset is odd.
double inclusion_exclusion(const Matrix& rows, const Row& reference) {
  double sum = 0;
  for (std::size_t subset = 1; subset < (std::size_t{1} << rows.size()); ++subset) {
    Row corner(reference.size(), -std::numeric_limits<double>::infinity());
    int size = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if ((subset >> i & 1) == 0) continue;
      ++size;
      for (std::size_t d = 0; d < corner.size(); ++d) corner[d] = std::max(corner[d], rows[i][d]);
    }
    double box = 1;
    for (std::size_t d = 0; d < corner.size(); ++d) box *= std::max(0.0, reference[d] - corner[d]);
    sum += size % 2 == 1 ? box : -box;
  }
  return sum;
}

template <class Distribution>
Matrix random_rows(std::mt19937& random, std::size_t points, std::size_t objectives, Distribution value) {
  Matrix rows(points, Row(objectives));
  for (auto& row : rows) {
    for (auto& cell : row) cell = value(random);
  }
  return rows;
}

/// Some lie on a reference at `side` and add nothing.
Matrix whole_rows(std::mt19937& random, std::size_t points, std::size_t objectives, int side) {
  return random_rows(random, points, objectives, std::uniform_int_distribution<int>(0, side));
}

}  // namespace

TEST_CASE("the hypervolume is the number of cells that are dominated, for one to four objectives") {
  std::mt19937 random(21);
  for (std::size_t objectives = 1; objectives <= 4; ++objectives) {
    for (const int side : {1, 2, 7}) {
      for (std::size_t points = 0; points <= 40; points += 4) {
        const auto rows = whole_rows(random, points, objectives, side);
        const auto found = hypervolume(points_of(all_less(objectives), rows), Row(objectives, side));
        REQUIRE(found.volume == count_cells(rows, objectives, side));
      }
    }
  }
}

TEST_CASE("the hypervolume is what inclusion and exclusion make of the boxes") {
  std::mt19937 random(22);
  for (std::size_t objectives = 1; objectives <= 4; ++objectives) {
    for (std::size_t points = 1; points <= 9; ++points) {
      const auto rows = random_rows(random, points, objectives, std::uniform_real_distribution<double>(0, 1.2));
      const Row reference(objectives, 1.0);
      const auto found = hypervolume(points_of(all_less(objectives), rows), reference);
      REQUIRE(found.volume == Approx(inclusion_exclusion(rows, reference)).margin(1e-12));
    }
  }
}

TEST_CASE("the share is that of the box between the ideal point and the reference") {
  const auto points = points_of({Sense::minimise, Sense::maximise}, {{2, 30}, {4, 50}, {5, 40}});
  const auto found = hypervolume(points, Row{10, 10});
  CHECK(found.volume == 8 * 20 + 6 * 40 - 6 * 20);
  CHECK(found.share.value() == Approx(280.0 / (8 * 40)));
  CHECK(hypervolume(points_of({Sense::minimise, Sense::maximise}, {{2, 30}}), Row{10, 10}).share == 1.0);
}

TEST_CASE("a reference that nothing is better than leaves no volume, and no box to take a share of") {
  const auto points = points_of(all_less(2), {{2, 3}, {3, 2}});
  CHECK(hypervolume(points, Row{2, 9}).volume == 0);
  CHECK_FALSE(hypervolume(points, Row{2, 9}).share.has_value());
  // Each objective is beaten by one of them, but no point beats both: the box exists and nothing of it is dominated.
  CHECK(hypervolume(points, Row{3, 3}).volume == 0);
  CHECK(hypervolume(points, Row{3, 3}).share == 0.0);
  CHECK(hypervolume(points_of(all_less(2), {}), Row{1, 1}).volume == 0);
  CHECK_FALSE(hypervolume(points_of(all_less(2), {}), Row{1, 1}).share.has_value());
}

TEST_CASE("order, duplicates, dominated and incomplete points do not change the hypervolume; a better one adds to it") {
  std::mt19937 random(23);
  for (std::size_t objectives = 1; objectives <= 4; ++objectives) {
    auto rows = whole_rows(random, 25, objectives, 16);
    const Row reference(objectives, 16.0);
    const double volume = hypervolume(points_of(all_less(objectives), rows), reference).volume;
    std::shuffle(rows.begin(), rows.end(), random);
    rows.push_back(rows[3]);
    auto worse = rows[4];
    for (auto& value : worse) ++value;
    rows.push_back(worse);
    auto points = points_of(all_less(objectives), rows);
    points.add(std::vector<std::optional<double>>(objectives));
    CHECK(hypervolume(points, reference).volume == volume);
    rows.push_back(Row(objectives, -1.0));
    CHECK(hypervolume(points_of(all_less(objectives), rows), reference).volume > volume);
  }
}

TEST_CASE(
    "the hypervolume scales with each objective's unit, moves with its origin, and knows no preferred direction") {
  std::mt19937 random(24);
  for (std::size_t objectives = 1; objectives <= 4; ++objectives) {
    const auto rows = whole_rows(random, 25, objectives, 16);
    const auto before = hypervolume(points_of(all_less(objectives), rows), Row(objectives, 16.0));
    auto moved = rows;
    Row reference;
    std::vector<Sense> senses;
    double factor = 1;
    for (std::size_t i = 0; i < objectives; ++i) {
      const double scale = i % 2 == 0 ? 8 : 0.25, sign = i % 2 == 0 ? 1 : -1;
      for (auto& row : moved) row[i] = sign * (row[i] * scale + 5);
      reference.push_back(sign * (16 * scale + 5));
      senses.push_back(sign > 0 ? Sense::minimise : Sense::maximise);
      factor *= scale;
    }
    const auto after = hypervolume(points_of(senses, moved), reference);
    CHECK(after.volume == before.volume * factor);
    CHECK(after.share == before.share);
  }
}

TEST_CASE("five objectives, a wrong number of reference values and an infinite one are refused") {
  CHECK_THROWS_AS(hypervolume(Points(all_less(5)), Row(5, 1.0)), std::invalid_argument);
  CHECK_THROWS_AS(hypervolume(Points(all_less(2)), Row(3, 1.0)), std::invalid_argument);
  CHECK_THROWS_AS(hypervolume(Points(all_less(2)), Row{1, std::numeric_limits<double>::infinity()}),
                  std::invalid_argument);
}
