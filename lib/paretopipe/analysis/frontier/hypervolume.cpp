#include <paretopipe/analysis/frontier/hypervolume.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

namespace paretopipe::frontier {

namespace {

constexpr std::size_t kMostObjectives = 4;

/// By how much a point is better than the reference in each objective, all positive; unused entries are 0.
using Gains = std::array<double, kMostObjectives>;

/// The area of the union of the boxes between the origin and the points added so far.
class StaircaseArea {
 public:
  double area() const { return area_; }

  void add(double x, double y) {
    auto step = steps_.lower_bound(x);
    double floor = step == steps_.end() ? 0 : step->second;  // already covered at x
    if (floor >= y) return;
    // From right to left, adds the part of the new box above each step that it covers, then above the step that stops
    // it.
    double right = x;
    if (step != steps_.end() && step->first == x) step = steps_.erase(step);
    while (step != steps_.begin()) {
      const auto left = std::prev(step);
      area_ += (right - left->first) * (y - floor);
      right = left->first;
      floor = left->second;
      if (floor >= y) break;
      step = steps_.erase(left);
    }
    if (floor < y) area_ += right * (y - floor);
    steps_.emplace(x, y);
  }

 private:
  std::map<double, double> steps_;  // x → y of the corners; y falls as x rises
  double area_ = 0;
};

double volume_of(std::span<const Gains> descending, std::size_t objectives);

/// Slices space at every distinct gain of the last objective. A slice's volume is that of the other objectives over the
/// points that reach that far.
double sum_of_slices(std::span<const Gains> points, std::size_t objectives) {
  const std::size_t last = objectives - 1;
  double volume = 0;
  std::vector<Gains> reached;
  const auto smaller = [&](const Gains& a, const Gains& b) { return a[last - 1] > b[last - 1]; };
  for (std::size_t i = 0; i < points.size(); ++i) {
    reached.insert(std::upper_bound(reached.begin(), reached.end(), points[i], smaller), points[i]);
    const double next = i + 1 < points.size() ? points[i + 1][last] : 0;
    if (points[i][last] > next) volume += (points[i][last] - next) * volume_of(reached, last);
  }
  return volume;
}

/// The volume of points that are in descending order of their last gain.
double volume_of(std::span<const Gains> descending, std::size_t objectives) {
  if (descending.empty()) return 0;
  if (objectives == 1) return descending.front()[0];
  if (objectives == 4) return sum_of_slices(descending, objectives);
  StaircaseArea staircase;
  double volume = 0;
  for (std::size_t i = 0; i < descending.size(); ++i) {
    staircase.add(descending[i][0], descending[i][1]);
    const double next = i + 1 < descending.size() ? descending[i + 1][2] : 0;
    if (objectives == 3) volume += (descending[i][2] - next) * staircase.area();
  }
  return objectives == 2 ? staircase.area() : volume;
}

double cost(Sense sense, double value) {
  return sense == Sense::minimise ? value : -value;
}

}  // namespace

Hypervolume hypervolume(const Points& points, std::span<const double> reference) {
  const auto objectives = points.objectives();
  if (objectives > kMostObjectives) throw std::invalid_argument("the hypervolume is exact for up to four objectives");
  if (reference.size() != objectives) throw std::invalid_argument("a reference needs one value for each objective");
  if (!std::all_of(reference.begin(), reference.end(), [](double value) { return std::isfinite(value); })) {
    throw std::invalid_argument("a reference must be finite");
  }

  std::vector<Gains> gains;
  Gains best;
  best.fill(-std::numeric_limits<double>::infinity());
  for (std::size_t point = 0; point < points.size(); ++point) {
    if (std::binary_search(points.incomplete().begin(), points.incomplete().end(), point)) continue;
    Gains gain{};
    bool better = true;
    for (std::size_t i = 0; i < objectives; ++i) {
      gain[i] = cost(points.senses()[i], reference[i]) - points.costs(point)[i];
      best[i] = std::max(best[i], gain[i]);
      better = better && gain[i] > 0;
    }
    if (better) gains.push_back(gain);
  }
  const auto last = objectives - 1;
  std::sort(gains.begin(), gains.end(), [last](const Gains& a, const Gains& b) { return a[last] > b[last]; });

  Hypervolume result{volume_of(gains, objectives), std::nullopt};
  double box = 1;
  for (std::size_t i = 0; i < objectives; ++i) box *= std::max(best[i], 0.0);
  if (box > 0 && std::isfinite(box)) result.share = std::min(result.volume / box, 1.0);
  return result;
}

}  // namespace paretopipe::frontier
