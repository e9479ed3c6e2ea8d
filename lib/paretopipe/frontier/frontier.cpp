#include <paretopipe/frontier/frontier.hpp>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "order.hpp"

namespace paretopipe::frontier {
namespace {

using Costs = std::span<const double>;
using Indices = std::vector<std::size_t>;
using Dominators = std::vector<std::optional<std::size_t>>;

bool at_least_as_good(Costs a, Costs b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](double left, double right) { return left <= right; });
}

bool equal(Costs a, Costs b) {
  return std::equal(a.begin(), a.end(), b.begin());
}

bool dominates(Costs a, Costs b) {
  return at_least_as_good(a, b) && !equal(a, b);
}

Indices complete_points(const Points& points) {
  Indices complete;
  complete.reserve(points.size());
  auto skip = points.incomplete().begin();
  for (std::size_t point = 0; point < points.size(); ++point) {
    if (skip != points.incomplete().end() && *skip == point) {
      ++skip;
    } else {
      complete.push_back(point);
    }
  }
  return complete;
}

// Most of many points are seldom near the frontier. A few good ones, found among a sample, tell so before anything is
// sorted.

constexpr std::size_t kSample = 256;
constexpr std::size_t kPivots = 8;
using Beaten = std::bitset<kSample>;

/// For each point of an even sample, which of the others it dominates.
std::vector<Beaten> compare_sample(const Points& points, const Indices& sample) {
  std::vector<Beaten> beaten(kSample);
  for (std::size_t i = 0; i < kSample; ++i) {
    for (std::size_t j = 0; j < kSample; ++j) {
      beaten[i][j] = dominates(points.costs(sample[i]), points.costs(sample[j]));
    }
  }
  return beaten;
}

/// The points of a sample that together dominate the most of it, each of which adds something. (None dominates another:
/// it would have been taken instead.) None where it is less than half, as where most points are on the frontier.
Indices choose_pivots(const Points& points, const Indices& complete) {
  if (complete.size() < 16 * kSample) return {};
  Indices sample, pivots;
  for (std::size_t i = 0; i < kSample; ++i) sample.push_back(complete[i * (complete.size() / kSample)]);
  const auto beaten = compare_sample(points, sample);
  Beaten rest = Beaten().set();
  while (pivots.size() < kPivots) {
    const auto best = std::max_element(beaten.begin(), beaten.end(), [&](const Beaten& left, const Beaten& right) {
      return (left & rest).count() < (right & rest).count();
    });
    if ((*best & rest).none()) break;
    rest &= ~*best;
    pivots.push_back(sample[static_cast<std::size_t>(best - beaten.begin())]);
  }
  return 2 * rest.count() < kSample ? pivots : Indices{};
}

/// Those of `complete` that no pivot dominates; the others get a pivot as their dominator.
Indices survivors(const Points& points, Indices complete, Dominators& dominator) {
  const auto pivots = choose_pivots(points, complete);
  if (pivots.empty()) return complete;
  std::erase_if(complete, [&](std::size_t point) {
    const auto found = std::find_if(pivots.begin(), pivots.end(), [&](std::size_t pivot) {
      return dominates(points.costs(pivot), points.costs(point));
    });
    if (found != pivots.end()) dominator[point] = *found;
    return found != pivots.end();
  });
  return complete;
}

// The three classes below hold the members found so far, in lexicographic order, and answer the same question: which of
// them, if any, is at least as good as the point at this place of the order in everything?

/// Up to two objectives: the last member has the least second cost of all.
class LastMember {
 public:
  LastMember(const Points& points, const Indices& order) : points_(points), order_(order) {}

  std::optional<std::size_t> find(std::size_t place) const {
    if (last_ && points_.costs(*last_).back() <= points_.costs(order_[place]).back()) return last_;
    return std::nullopt;
  }
  void add(std::size_t place) { last_ = order_[place]; }

 private:
  const Points& points_;
  const Indices& order_;
  std::optional<std::size_t> last_;
};

/// Three objectives: of the members whose second cost ranks no higher than a point's, one with the least third cost. A
/// Fenwick tree over the ranks ("A New Data Structure for Cumulative Frequency Tables", 1994) has it in O(log n).
class LeastThirdCost {
 public:
  LeastThirdCost(const Points& points, const Indices& order)
      : points_(points), order_(order), ranks_(ranks(points, order, 1)), least_(order.size() + 1) {}

  std::optional<std::size_t> find(std::size_t place) const {
    const double third = points_.costs(order_[place])[2];
    for (auto node = ranks_[place]; node > 0; node &= node - 1) {
      if (least_[node].third <= third) return least_[node].member;
    }
    return std::nullopt;
  }

  void add(std::size_t place) {
    const auto member = order_[place];
    const double third = points_.costs(member)[2];
    for (auto node = ranks_[place]; node < least_.size(); node += node & (~node + 1)) {
      if (!(least_[node].third <= third)) least_[node] = {third, member};
    }
  }

 private:
  struct Least {
    double third = std::numeric_limits<double>::quiet_NaN();  ///< without a member, at most as large as nothing
    std::size_t member = 0;
  };

  const Points& points_;
  const Indices& order_;
  Indices ranks_;             // by place, from 1; equal costs have equal ranks
  std::vector<Least> least_;  // node i is of the ranks (i - its lowest set bit, i]
};

/// Any number of objectives, by comparison with every member.
class EveryMember {
 public:
  EveryMember(const Points& points, const Indices& order) : points_(points), order_(order) {}

  std::optional<std::size_t> find(std::size_t place) const {
    const auto costs = points_.costs(order_[place]);
    const auto found = std::find_if(members_.begin(), members_.end(),
                                    [&](std::size_t member) { return at_least_as_good(points_.costs(member), costs); });
    return found == members_.end() ? std::nullopt : std::optional(*found);
  }
  void add(std::size_t place) { members_.push_back(order_[place]); }

 private:
  const Points& points_;
  const Indices& order_;
  Indices members_;
};

/// Gives everything in `order` that is dominated a member of the frontier as its dominator.
template <class Members>
void sweep(const Points& points, const Indices& order, Dominators& dominator) {
  Members members(points, order);
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto better = members.find(place);
    if (!better) {
      members.add(place);
    } else if (!equal(points.costs(*better), points.costs(order[place]))) {
      dominator[order[place]] = better;
    }  // the second of two equal points is a member that would find nothing that the first does not
  }
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
  Frontier frontier;
  frontier.incomplete = points.incomplete();
  frontier.dominator.resize(points.size());
  const auto complete = complete_points(points);
  const auto order = lexicographic_order(points, survivors(points, complete, frontier.dominator));
  if (points.objectives() <= 2) {
    sweep<LastMember>(points, order, frontier.dominator);
  } else if (points.objectives() == 3) {
    sweep<LeastThirdCost>(points, order, frontier.dominator);
  } else {
    sweep<EveryMember>(points, order, frontier.dominator);
  }
  for (const auto point : complete) {
    auto& dominator = frontier.dominator[point];
    if (!dominator) {
      frontier.members.push_back(point);
    } else if (frontier.dominator[*dominator]) {  // a pivot that is no member, but dominated by one
      dominator = frontier.dominator[*dominator];
    }
  }
  return frontier;
}

}  // namespace paretopipe::frontier
