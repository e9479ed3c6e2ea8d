#include <paretopipe/frontier/frontier.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

namespace paretopipe::frontier {
namespace {

bool at_least_as_good(std::span<const double> a, std::span<const double> b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](double left, double right) { return left <= right; });
}

bool equal(std::span<const double> a, std::span<const double> b) {
  return std::equal(a.begin(), a.end(), b.begin());
}

/// Complete points in lexicographic order of their costs: nothing is dominated by a point that comes after it. The
/// first cost travels with the index, because most comparisons need nothing else and a look into the matrix misses the
/// cache.
std::vector<std::size_t> lexicographic_order(const Points& points) {
  std::vector<std::pair<double, std::size_t>> keys;
  keys.reserve(points.size());
  auto skip = points.incomplete().begin();
  for (std::size_t point = 0; point < points.size(); ++point) {
    if (skip != points.incomplete().end() && *skip == point) {
      ++skip;
    } else {
      keys.emplace_back(points.costs(point).front(), point);
    }
  }
  std::sort(keys.begin(), keys.end(), [&](const auto& left, const auto& right) {
    if (left.first != right.first) return left.first < right.first;
    const auto a = points.costs(left.second), b = points.costs(right.second);
    for (std::size_t i = 1; i < a.size(); ++i) {
      if (a[i] != b[i]) return a[i] < b[i];
    }
    return left.second < right.second;
  });
  std::vector<std::size_t> order(keys.size());
  std::transform(keys.begin(), keys.end(), order.begin(), [](const auto& key) { return key.second; });
  return order;
}

// The three classes below hold the members found so far, in lexicographic order, and answer the same question: which of
// them, if any, is at least as good as this point in everything?

/// Up to two objectives: the last member has the least second cost of all.
class LastMember {
 public:
  explicit LastMember(const Points& points) : points_(points) {}

  std::optional<std::size_t> find(std::size_t point) const {
    if (last_ && points_.costs(*last_).back() <= points_.costs(point).back()) return last_;
    return std::nullopt;
  }
  void add(std::size_t point) { last_ = point; }

 private:
  const Points& points_;
  std::optional<std::size_t> last_;
};

/// Three objectives: of the members' second and third costs only the minimal pairs matter. They form a staircase, whose
/// step to the left of a point has the least third cost of all members with no greater second.
class Staircase {
 public:
  explicit Staircase(const Points& points) : points_(points) {}

  std::optional<std::size_t> find(std::size_t point) const {
    const auto costs = points_.costs(point);
    const auto after = steps_.upper_bound(costs[1]);
    if (after == steps_.begin()) return std::nullopt;
    const auto& [second, member] = *std::prev(after);
    return points_.costs(member)[2] <= costs[2] ? std::optional(member) : std::nullopt;
  }

  void add(std::size_t point) {
    const auto costs = points_.costs(point);
    auto step = steps_.lower_bound(costs[1]);
    while (step != steps_.end() && points_.costs(step->second)[2] >= costs[2]) step = steps_.erase(step);
    steps_.emplace(costs[1], point);
  }

 private:
  const Points& points_;
  std::map<double, std::size_t> steps_;  // second cost → member; third costs fall as second costs rise
};

/// Any number of objectives, by comparison with every member.
class EveryMember {
 public:
  explicit EveryMember(const Points& points) : points_(points) {}

  std::optional<std::size_t> find(std::size_t point) const {
    const auto found = std::find_if(members_.begin(), members_.end(), [&](std::size_t member) {
      return at_least_as_good(points_.costs(member), points_.costs(point));
    });
    return found == members_.end() ? std::nullopt : std::optional(*found);
  }
  void add(std::size_t point) { members_.push_back(point); }

 private:
  const Points& points_;
  std::vector<std::size_t> members_;
};

template <class Members>
Frontier sweep(const Points& points) {
  Frontier frontier;
  frontier.incomplete = points.incomplete();
  frontier.dominator.resize(points.size());
  Members members(points);
  for (const auto point : lexicographic_order(points)) {
    const auto better = members.find(point);
    if (better && !equal(points.costs(*better), points.costs(point))) {
      frontier.dominator[point] = better;
      continue;
    }
    frontier.members.push_back(point);
    if (!better) members.add(point);  // the second of two equal points would find nothing that the first does not
  }
  std::sort(frontier.members.begin(), frontier.members.end());
  return frontier;
}

}  // namespace

Points::Points(std::vector<Sense> senses) : senses_(std::move(senses)) {
  if (senses_.empty()) throw std::invalid_argument("points need at least one objective");
}

void Points::add(std::span<const std::optional<double>> values) {
  if (values.size() != objectives()) throw std::invalid_argument("a point needs one value for each objective");
  if (std::any_of(values.begin(), values.end(), [](const auto& value) { return value && std::isnan(*value); })) {
    throw std::invalid_argument("NaN is neither better nor worse than anything: no frontier exists");
  }
  if (std::find(values.begin(), values.end(), std::nullopt) != values.end()) incomplete_.push_back(size_);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i].value_or(0);
    costs_.push_back(senses_[i] == Sense::minimise ? value : -value);
  }
  ++size_;
}

Frontier find_frontier(const Points& points) {
  if (points.objectives() <= 2) return sweep<LastMember>(points);
  if (points.objectives() == 3) return sweep<Staircase>(points);
  return sweep<EveryMember>(points);
}

}  // namespace paretopipe::frontier
