// How long the frontier of a million points takes, beside std::sort of as many numbers in the same minute: points drawn
// uniformly, where few are on it, and on a sphere's surface facing the ideal point, where all are.
#include <paretopipe/analysis/frontier/frontier.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "report.hpp"

namespace {

using namespace paretopipe;

constexpr std::size_t kPoints = 1'000'000;

frontier::Points draw(std::size_t objectives, bool all_on_frontier) {
  std::mt19937_64 random(objectives);
  std::uniform_real_distribution<double> uniform(0, 1);
  frontier::Points points(std::vector<frontier::Sense>(objectives, frontier::Sense::minimise));
  points.reserve(kPoints);
  std::vector<std::optional<double>> values(objectives);
  for (std::size_t point = 0; point < kPoints; ++point) {
    double square = 0;
    for (auto& value : values) {
      value = uniform(random);
      square += *value * *value;
    }
    for (auto& value : values) {
      if (all_on_frontier) *value = 1 - *value / std::sqrt(square);
    }
    points.add(values);
  }
  return points;
}

double sorting_s(const frontier::Points& points) {
  std::vector<double> numbers;
  for (std::size_t point = 0; point < points.size(); ++point) numbers.push_back(points.costs(point).front());
  return bench::seconds_of([&] { std::sort(numbers.begin(), numbers.end()); });
}

void time_frontier(std::size_t objectives, bool all_on_frontier) {
  const auto points = draw(objectives, all_on_frontier);
  std::vector<double> frontier_s, sort_s;
  std::size_t members = 0;
  for (int i = 0; i < 5; ++i) {
    sort_s.push_back(sorting_s(points));
    frontier_s.push_back(bench::seconds_of([&] { members = frontier::find_frontier(points).members.size(); }));
  }
  const double median = *stats::median(frontier_s), ratio = median / *stats::median(sort_s);
  const auto what = fmt::format("a million points, {} objectives, {} on the frontier", objectives, members);
  const auto measured = fmt::format("{:.3f} s, {:.2f}", median, ratio);
  if (objectives <= 3 && !all_on_frontier) {
    bench::print_row(what, measured, "at most std::sort's time", ratio <= 1);
  } else {
    bench::print_row(what, measured);
  }
}

}  // namespace

int main() {
  for (const std::size_t objectives : {2, 3, 4}) time_frontier(objectives, false);
  // All on the frontier of four would be 5 · 10^11 comparisons.
  for (const std::size_t objectives : {2, 3}) time_frontier(objectives, true);
}
