#include <paretopipe/analysis/frontier/frontier.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

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

// Among many points, most are far from the frontier. A few good points from a sample (pivots) eliminate them before
// anything is sorted.

constexpr std::size_t kSample = 256;
constexpr std::size_t kPivots = 8;
using Beaten = std::bitset<kSample>;

/// For each point of the sample, the set of sampled points that it dominates.
std::vector<Beaten> compare_sample(const Points& points, const Indices& sample) {
  std::vector<Beaten> beaten(kSample);
  for (std::size_t i = 0; i < kSample; ++i) {
    for (std::size_t j = 0; j < kSample; ++j) {
      beaten[i][j] = dominates(points.costs(sample[i]), points.costs(sample[j]));
    }
  }
  return beaten;
}

/// Chooses sampled points that together dominate as much of the sample as possible, each adding something. (None
/// dominates another, which would have been chosen instead.) Empty if they dominate less than half of it, as when most
/// points are on the frontier.
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

/// The points of `complete` that no pivot dominates. Each of the others gets a pivot as its dominator.
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

// The three classes below hold the members found so far, in lexicographic order. find() returns a member that is at
// least as good in every objective as the point at `place` of the order, if there is one.

/// For up to two objectives: the last member has the smallest second cost of all.
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

/// For three objectives: a Fenwick tree over the ranks of the second cost ("A New Data Structure for Cumulative
/// Frequency Tables", 1994). In O(log n), it finds a member with the smallest third cost among those whose second cost
/// ranks no higher than a point's.
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
    double third = std::numeric_limits<double>::quiet_NaN();  ///< NaN without a member: comparisons with it are false
    std::size_t member = 0;
  };

  const Points& points_;
  const Indices& order_;
  Indices ranks_;             // by place, from 1; equal costs have equal ranks
  std::vector<Least> least_;  // node i covers the ranks (i - its lowest set bit, i]
};

/// For any number of objectives: compares with every member.
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

/// Sets a member of the frontier as the dominator of every point in `order` that is dominated.
template <class Members>
void sweep(const Points& points, const Indices& order, Dominators& dominator) {
  Members members(points, order);
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto better = members.find(place);
    if (!better) {
      members.add(place);
    } else if (!equal(points.costs(*better), points.costs(order[place]))) {
      dominator[order[place]] = better;
    }  // an equal point is a member too, but add() would gain nothing from it
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
    } else if (frontier.dominator[*dominator]) {  // a pivot that is dominated by a member
      dominator = frontier.dominator[*dominator];
    }
  }
  return frontier;
}

namespace {

/// An item to sort and a key that orders like its cost. The key travels along because most comparisons need nothing
/// else, and looking up the costs misses the cache.
struct Keyed {
  std::uint64_t key = 0;
  std::size_t what = 0;
};

/// Maps a number to bits that order as the numbers do; negative numbers need their bits inverted. Adding 0 turns -0
/// into 0.
std::uint64_t ordered_bits(double cost) {
  constexpr auto kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(cost + 0.0);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

constexpr int kDigitBits = 11;
constexpr int kDigits = 3;
/// Fewer entries are sorted by comparisons.
constexpr std::size_t kWorthDigits = 2048;

/// Radix-sorts by the digits behind the leading zeros that all keys share, the least significant digit first (Knuth,
/// "The Art of Computer Programming", volume 3, 5.2.5). Moves these digits to the top of the keys.
void sort_by_digits(std::vector<Keyed>& entries) {
  const auto [least, greatest] = std::minmax_element(
      entries.begin(), entries.end(), [](const Keyed& left, const Keyed& right) { return left.key < right.key; });
  const auto origin = least->key;
  const int zeros = std::min(63, std::countl_zero(greatest->key - origin));
  for (auto& entry : entries) entry.key = (entry.key - origin) << zeros;
  std::vector<Keyed> sorted(entries.size());
  for (int shift = 64 - kDigits * kDigitBits; shift < 64; shift += kDigitBits) {
    const auto digit = [&](const Keyed& entry) { return (entry.key >> shift) % (1U << kDigitBits); };
    std::array<std::size_t, 1U << kDigitBits> place{};
    for (const auto& entry : entries) ++place[digit(entry)];
    std::exclusive_scan(place.begin(), place.end(), place.begin(), std::size_t{0});
    for (const auto& entry : entries) sorted[place[digit(entry)]++] = entry;
    entries.swap(sorted);
  }
}

/// Sorts by key, and by `before` if keys are equal.
template <class Before>
void sort_keyed(std::vector<Keyed>& entries, Before before) {
  const auto less = [&](const Keyed& left, const Keyed& right) {
    return left.key != right.key ? left.key < right.key : before(left.what, right.what);
  };
  if (entries.size() < kWorthDigits) return std::sort(entries.begin(), entries.end(), less);
  sort_by_digits(entries);
  const auto leading = [](const Keyed& entry) { return entry.key >> (64 - kDigits * kDigitBits); };
  for (auto begin = entries.begin(); begin != entries.end();) {
    const auto end =
        std::find_if(begin, entries.end(), [&](const Keyed& entry) { return leading(entry) != leading(*begin); });
    std::sort(begin, end, less);
    begin = end;
  }
}

}  // namespace

std::vector<std::size_t> lexicographic_order(const Points& points, std::span<const std::size_t> chosen) {
  std::vector<Keyed> entries;
  entries.reserve(chosen.size());
  for (const auto point : chosen) entries.push_back({ordered_bits(points.costs(point).front()), point});
  sort_keyed(entries, [&](std::size_t left, std::size_t right) {
    const auto a = points.costs(left), b = points.costs(right);
    const auto [first, second] = std::mismatch(a.begin() + 1, a.end(), b.begin() + 1);
    return first != a.end() ? *first < *second : left < right;
  });
  std::vector<std::size_t> order(entries.size());
  std::transform(entries.begin(), entries.end(), order.begin(), [](const Keyed& entry) { return entry.what; });
  return order;
}

std::vector<std::size_t> ranks(const Points& points, std::span<const std::size_t> chosen, std::size_t objective) {
  std::vector<Keyed> entries;
  entries.reserve(chosen.size());
  for (std::size_t place = 0; place < chosen.size(); ++place) {
    entries.push_back({ordered_bits(points.costs(chosen[place])[objective]), place});
  }
  sort_keyed(entries, std::less<>());
  std::vector<std::size_t> ranks(chosen.size());
  std::size_t rank = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i == 0 || entries[i].key != entries[i - 1].key) ++rank;
    ranks[entries[i].what] = rank;
  }
  return ranks;
}

}  // namespace paretopipe::frontier
