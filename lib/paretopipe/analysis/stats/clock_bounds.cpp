#include <paretopipe/analysis/stats/clock_bounds.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::stats {

namespace {

/// No two clocks drift apart faster: kernels discipline theirs by at most 500 ppm, and quartzes are off by 100.
constexpr double kMostDrift = 1e-3;

/// Readings are whole nanoseconds, so frames that contradict each other by less say nothing.
constexpr double kResolutionNs = 1;

/// Drift needs two moments. Frames of a stage that are all closer together are taken to span this long.
constexpr double kShortestSpanNs = 1000;

/// Times are normalised: they count from the clock's origin, which is subtracted in whole numbers. That makes them
/// small enough for doubles to be exact to far below a nanosecond.
struct Corner {
  double time = 0;
  double value = 0;
};

double slope(const Corner& left, const Corner& right) {
  return (right.value - left.value) / (right.time - left.time);
}

/// The corners of the least concave function that is nowhere below the points, from left to right (Andrew's monotone
/// chain).
std::vector<Corner> concave_hull(std::vector<Corner> points) {
  std::sort(points.begin(), points.end(), [](const Corner& left, const Corner& right) {
    return left.time != right.time ? left.time < right.time : left.value > right.value;
  });
  std::vector<Corner> hull;
  for (const auto& point : points) {
    if (!hull.empty() && hull.back().time == point.time) continue;  // the highest came first
    while (hull.size() > 1 && slope(hull[hull.size() - 2], hull.back()) <= slope(hull.back(), point)) hull.pop_back();
    hull.push_back(point);
  }
  return hull;
}

/// A concave function: its corners, and how steeply it rises before the first and after the last of them.
struct Envelope {
  std::vector<Corner> corners;
  double rise_before = 0;
  double rise_after = 0;

  double at(double time) const {
    const auto next = std::lower_bound(corners.begin(), corners.end(), time,
                                       [](const Corner& corner, double moment) { return corner.time < moment; });
    if (next == corners.begin()) return next->value + rise_before * (time - next->time);
    const auto& last = *(next - 1);
    return last.value + (next == corners.end() ? rise_after : slope(last, *next)) * (time - last.time);
  }

  /// The value at time 0 of the line with this slope that touches the function from above.
  double touch(double slope_of_line) const {
    std::size_t corner = 0, end = corners.size() - 1;
    while (corner < end) {
      const auto middle = (corner + end) / 2;
      if (slope(corners[middle], corners[middle + 1]) > slope_of_line) {
        corner = middle + 1;
      } else {
        end = middle;
      }
    }
    return corners[corner].value - slope_of_line * corners[corner].time;
  }
};

Envelope envelope_of(const ClockLine& line) {
  return {{{0, line.offset}}, line.drift, line.drift};
}

/// The lower envelope of all lines that have a possible drift and are nowhere below the points.
Envelope envelope_over(std::vector<Corner> points) {
  auto hull = concave_hull(std::move(points));
  while (hull.size() > 1 && slope(hull[hull.size() - 2], hull.back()) < -kMostDrift) hull.pop_back();
  std::size_t first = 0;
  while (first + 1 < hull.size() && slope(hull[first], hull[first + 1]) > kMostDrift) ++first;
  hull.erase(hull.begin(), hull.begin() + static_cast<std::ptrdiff_t>(first));
  return {std::move(hull), kMostDrift, -kMostDrift};
}

/// What the frames of a link say. `lead` is concave. At the sender's time a it is the greatest a − b, where b is the
/// receiver's time at which a frame that was sent at a, or an average of frames around a, has arrived.
struct Crossing {
  std::size_t from = 0;  ///< clocks
  std::size_t to = 0;
  Envelope lead;
};

/// Bounds of the receiver's line, given those of the sender's. Let x(a) ≥ a + sender(a) be stage 0's time of the
/// sender's moment a. Then the receiver's moment b = a − lead(a) comes no earlier: b + line(b) ≥ a + sender(a). Both
/// functions are straight between their corners, so it suffices to look there.
std::vector<Corner> carried(const Envelope& sender, const Envelope& lead) {
  std::vector<Corner> bounds;
  const auto carry = [&](double sent) {
    const auto ahead = lead.at(sent);
    bounds.push_back({sent - ahead, sender.at(sent) + ahead});
  };
  for (const auto& corner : lead.corners) carry(corner.time);
  for (const auto& corner : sender.corners) {
    if (corner.time > lead.corners.front().time && corner.time < lead.corners.back().time) carry(corner.time);
  }
  return bounds;
}

using Envelopes = std::vector<std::optional<Envelope>>;

/// The lower bounds of each clock's line. `known`: the lines that are given, at least the base's.
Envelopes lower_envelopes(const std::vector<Crossing>& crossings, Envelopes known) {
  std::vector<std::vector<Corner>> points(known.size());
  auto envelopes = known;
  for (const auto& crossing : crossings) {
    if (known[crossing.to] || !envelopes[crossing.from]) continue;
    auto& bounds = points[crossing.to];
    const auto further = carried(*envelopes[crossing.from], crossing.lead);
    bounds.insert(bounds.end(), further.begin(), further.end());
    envelopes[crossing.to] = envelope_over(bounds);
  }
  return envelopes;
}

struct Region {
  std::vector<ClockLine> corners;
  double contradiction = 0;
};

/// The lines that are nowhere below `lower` and nowhere above the upper bounds. `upper` has the latter as if time ran
/// backwards: receivers send, times and values change their signs, and upper bounds become lower ones. For each drift,
/// the offset lies between two touching lines. Their distance is linear in the drift between the slopes of the corners.
Region region_between(const Envelope& lower, const Envelope& upper) {
  std::vector<double> drifts{-kMostDrift, kMostDrift};
  for (const auto* envelope : {&lower, &upper}) {
    for (std::size_t i = 1; i < envelope->corners.size(); ++i) {
      drifts.push_back(std::clamp(slope(envelope->corners[i - 1], envelope->corners[i]), -kMostDrift, kMostDrift));
    }
  }
  std::sort(drifts.begin(), drifts.end());
  Region region;
  double widest = -std::numeric_limits<double>::infinity(), gap_before = 0;
  ClockLine best;
  for (std::size_t i = 0; i < drifts.size(); ++i) {
    const double low = lower.touch(drifts[i]), high = -upper.touch(drifts[i]), gap = high - low;
    if (i > 0 && (gap < 0) != (gap_before < 0)) {
      const double drift = drifts[i - 1] + (drifts[i] - drifts[i - 1]) * gap_before / (gap_before - gap);
      region.corners.push_back({(lower.touch(drift) - upper.touch(drift)) / 2, drift});
    }
    if (gap >= 0) region.corners.insert(region.corners.end(), {{low, drifts[i]}, {high, drifts[i]}});
    if (gap > widest) {
      widest = gap;
      best = {(low + high) / 2, drifts[i]};
    }
    gap_before = gap;
  }
  if (!region.corners.empty()) return region;
  return {{best}, -widest / 2};
}

std::pair<double, double> range_at(const std::vector<ClockLine>& lines, double time) {
  const auto [low, high] = std::minmax_element(
      lines.begin(), lines.end(), [&](const auto& one, const auto& other) { return one.at(time) < other.at(time); });
  return {low->at(time), high->at(time)};
}

ClockLine mix(const ClockLine& one, const ClockLine& other, double share) {
  return {(1 - share) * one.offset + share * other.offset, (1 - share) * one.drift + share * other.drift};
}

/// The line through the middle of the polygon's ranges at both times. It lies in the polygon, because the centre of a
/// box lies in every convex polygon that touches all of the box's sides.
ClockLine centre_line(const std::vector<ClockLine>& corners, double begin, double end) {
  const auto [low_begin, high_begin] = range_at(corners, begin);
  const auto [low_end, high_end] = range_at(corners, end);
  const double at_begin = (low_begin + high_begin) / 2, at_end = (low_end + high_end) / 2;
  const double drift = (at_end - at_begin) / (end - begin);
  return {at_begin - drift * begin, drift};
}

/// A line of the polygon that leaves about 1 / `links` of the polygon's width below itself, and half of it at most. The
/// frames that arrive then look about as slow as those of each other link on the way to stage 0.
ClockLine share_line(const std::vector<ClockLine>& corners, double begin, double end, std::ptrdiff_t links) {
  const auto middle = (begin + end) / 2;
  const auto lowest = std::min_element(corners.begin(), corners.end(), [&](const auto& one, const auto& other) {
    return one.at(middle) < other.at(middle);
  });
  return mix(*lowest, centre_line(corners, begin, end), 2 / static_cast<double>(std::max<std::ptrdiff_t>(links, 2)));
}

/// Numbers the clocks from 0, the base's, in the order in which the stages first have them.
class ClockSolver {
 public:
  ClockSolver(std::span<const int> clocks, std::span<const LinkFrames> links) {
    std::vector<int> names;
    for (const int name : clocks) {
      const auto found = std::find(names.begin(), names.end(), name);
      clock_of_.push_back(static_cast<std::size_t>(found - names.begin()));
      if (found == names.end()) names.push_back(name);
    }
    polygons_.resize(names.size());
    for (const auto& link : links) {
      const auto from = clock_of(link.from), to = clock_of(link.to);
      if (from == to || link.frames.empty()) continue;
      normalise(from, to, link.frames.front());
      add(from, to, link.frames);
    }
    std::reverse(back_.begin(), back_.end());
    solve();
  }

  std::vector<ClockBounds> of_stages() const {
    std::vector<ClockBounds> result;
    for (const auto clock : clock_of_) result.push_back(clock == 0 ? ClockBounds() : ClockBounds(polygons_[clock]));
    return result;
  }

 private:
  std::size_t clock_of(int stage) const { return clock_of_[static_cast<std::size_t>(stage)]; }

  /// Finds roughly what is to be added to a clock, by the first frame that reaches it. The very first frame comes from
  /// the base.
  void normalise(std::size_t from, std::size_t to, const FrameTimes& frame) {
    if (there_.empty()) polygons_.front().origin = frame.sent;
    const auto reached = [&](const Crossing& crossing) { return crossing.to == to; };
    if (to == 0 || std::any_of(there_.begin(), there_.end(), reached)) return;
    auto& polygon = polygons_[to];
    polygon.origin = polygons_[from].origin + (frame.received - frame.sent);
    polygon.rough = polygons_.front().origin - polygon.origin;
    polygon.begin = polygon.end = frame.received;
  }

  double normalised(std::size_t clock, std::int64_t time) const {
    return static_cast<double>(time - polygons_[clock].origin);
  }

  /// Adds a link in both directions of time.
  void add(std::size_t from, std::size_t to, const std::vector<FrameTimes>& frames) {
    std::vector<Corner> leads, leads_back;
    for (const auto& frame : frames) {
      polygons_[from].end = std::max(polygons_[from].end, frame.sent);
      polygons_[to].begin = std::min(polygons_[to].begin, frame.received);
      const auto sent = normalised(from, frame.sent), received = normalised(to, frame.received);
      leads.push_back({sent, sent - received});
      leads_back.push_back({-received, sent - received});
    }
    there_.push_back({from, to, {concave_hull(std::move(leads))}});
    back_.push_back({to, from, {concave_hull(std::move(leads_back))}});
  }

  /// The polygon of a clock, given the lines of some clocks.
  Region region_of(std::size_t clock, const std::vector<std::optional<ClockLine>>& lines) const {
    Envelopes known(lines.size()), known_reversed(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i]) continue;
      known[i] = envelope_of(*lines[i]);
      known_reversed[i] = envelope_of({-lines[i]->offset, lines[i]->drift});
    }
    const auto lower = lower_envelopes(there_, std::move(known))[clock];
    const auto upper = lower_envelopes(back_, std::move(known_reversed))[clock];
    if (lower && upper) return region_between(*lower, *upper);
    const auto stage = std::find(clock_of_.begin(), clock_of_.end(), clock) - clock_of_.begin();
    throw Error(ExitCode::internal, fmt::format("no frames bound the clock of stage {} from both sides", stage));
  }

  /// How many links a batch passes from the one that first reaches a clock to the one that is back at the base.
  std::ptrdiff_t links_on_the_way(std::size_t clock) const {
    const auto reached = std::find_if(there_.begin(), there_.end(), [&](const auto& link) { return link.to == clock; });
    const auto back = std::find_if(reached, there_.end(), [](const auto& link) { return link.to == 0; });
    return back - reached + 1;
  }

  /// A clock's polygon assumes nothing about the other clocks. Its line is chosen among those that the lines chosen
  /// before it allow, so that frames between two such clocks are received after they are sent, too. The centres of all
  /// polygons would not ensure that. With two clocks the line is the polygon's centre.
  void solve() {
    std::vector<std::optional<ClockLine>> base(polygons_.size());
    base.front() = ClockLine{};
    auto chosen = base;
    for (std::size_t clock = 1; clock < polygons_.size(); ++clock) {
      auto& polygon = polygons_[clock];
      auto region = region_of(clock, base);
      const auto begin = normalised(clock, polygon.begin);
      const auto end = std::max(normalised(clock, polygon.end), begin + kShortestSpanNs);
      polygon.line = share_line(region_of(clock, chosen).corners, begin, end, links_on_the_way(clock));
      polygon.corners = std::move(region.corners);
      polygon.contradiction = region.contradiction;
      chosen[clock] = polygon.line;
    }
  }

  std::vector<std::size_t> clock_of_;   ///< each stage's
  std::vector<ClockPolygon> polygons_;  ///< of each clock
  std::vector<Crossing> there_, back_;
};

}  // namespace

bool ClockBounds::empty() const {
  return polygon_ && polygon_->contradiction > kResolutionNs;
}

OffsetInterval ClockBounds::offset_at(std::int64_t time) const {
  if (!polygon_) return {};
  const auto [low, high] = range_at(polygon_->corners, static_cast<double>(time - polygon_->origin));
  return {polygon_->rough + static_cast<std::int64_t>(std::floor(low - polygon_->contradiction)),
          polygon_->rough + static_cast<std::int64_t>(std::ceil(high + polygon_->contradiction))};
}

DriftInterval ClockBounds::drift() const {
  if (!polygon_) return {};
  const auto [low, high] =
      std::minmax_element(polygon_->corners.begin(), polygon_->corners.end(),
                          [](const auto& one, const auto& other) { return one.drift < other.drift; });
  return {low->drift, high->drift};
}

std::int64_t ClockBounds::to_add(std::int64_t time) const {
  if (!polygon_) return 0;
  return polygon_->rough + std::llround(polygon_->line.at(static_cast<double>(time - polygon_->origin)));
}

/// The ends of the range are a convex and a concave function of time. So a line is nowhere farther from them than at
/// the beginning or at the end.
std::int64_t ClockBounds::error_ns() const {
  if (!polygon_) return 0;
  std::int64_t error = 0;
  for (const auto time : {polygon_->begin, polygon_->end}) {
    const auto range = offset_at(time);
    error = std::max({error, range.high - to_add(time), to_add(time) - range.low});
  }
  return error;
}

std::vector<ClockBounds> bound_clocks(std::span<const int> clocks, std::span<const LinkFrames> links) {
  return ClockSolver(clocks, links).of_stages();
}

std::optional<OffsetInterval> offset_interval(std::span<const ClockExchange> exchanges) {
  if (exchanges.empty()) return std::nullopt;
  OffsetInterval interval{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  for (const auto& exchange : exchanges) {
    interval.low = std::max(interval.low, exchange.peer_sent - exchange.received);
    interval.high = std::min(interval.high, exchange.peer_received - exchange.sent);
  }
  if (interval.low > interval.high) return std::nullopt;
  return interval;
}

}  // namespace paretopipe::stats
