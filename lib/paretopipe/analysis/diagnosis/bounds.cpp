#include <paretopipe/analysis/diagnosis/bounds.hpp>
#include <paretopipe/core/text.hpp>

#include <algorithm>
#include <cmath>

namespace paretopipe::diagnosis {

namespace {

/// A larger depth is no useful advice.
constexpr double kMostInFlight = 1e6;

void sort_slowest_first(std::vector<Constraint>& constraints) {
  std::stable_sort(constraints.begin(), constraints.end(),
                   [](const auto& left, const auto& right) { return left.period_ns > right.period_ns; });
}

/// The parts of a pipeline of several stages with their demands per batch, slowest first.
std::vector<Constraint> parts(const Demands& demands) {
  std::vector<Constraint> parts;
  for (std::size_t s = 0; s < demands.stages.size(); ++s) {
    const auto& stage = demands.stages[s];
    parts.push_back({Kind::compute, static_cast<int>(s), stage.busy.mean_ns});
    if (stage.codec.mean_ns > 0) parts.push_back({Kind::codec, static_cast<int>(s), stage.codec.mean_ns});
  }
  for (const auto& link : demands.links) {
    parts.push_back({link.to == 0 ? Kind::way_back : Kind::link, link.from, link.busy.mean_ns});
  }
  if (demands.source_ns) parts.push_back({Kind::source, 0, *demands.source_ns});
  sort_slowest_first(parts);
  return parts;
}

/// `demands` may be const or not.
template <class DemandsOf>
auto busy_in(DemandsOf& demands, const Constraint& part) -> decltype(&demands.stages[0].busy) {
  const auto index = static_cast<std::size_t>(part.stage);
  switch (part.kind) {
    case Kind::compute:
      return &demands.stages.at(index).busy;
    case Kind::codec:
      return &demands.stages.at(index).codec;
    case Kind::link:
    case Kind::way_back:
      return &demands.links.at(index).busy;
    case Kind::source:
    case Kind::depth:
      break;
  }
  return nullptr;
}

/// The same pipeline as if `part` took no time.
Demands without(Demands demands, const Constraint& part) {
  if (part.kind == Kind::source) {
    demands.source_ns = 0;
  } else {
    busy_in(demands, part)->mean_ns = 0;
  }
  return demands;
}

Constraint of_one_thread(const Demands& demands) {
  const double compute = demands.stages.front().busy.mean_ns;
  const double source = demands.source_ns.value_or(0);
  return {source > compute ? Kind::source : Kind::compute, 0, compute + source};
}

}  // namespace

std::string_view to_string(Kind kind) {
  static constexpr Word<Kind> kKinds[]{{Kind::compute, "compute"},   {Kind::codec, "codec"},   {Kind::link, "link"},
                                       {Kind::way_back, "way_back"}, {Kind::source, "source"}, {Kind::depth, "depth"}};
  return word_of(kKinds, kind);
}

std::vector<Constraint> constraints(const Demands& demands) {
  if (demands.links.empty()) return {of_one_thread(demands)};
  auto all = parts(demands);
  all.push_back({Kind::depth, 0, demands.unqueued_ns() / demands.in_flight});
  sort_slowest_first(all);
  return all;
}

std::optional<Constraint> next_constraint(const Demands& demands) {
  if (demands.links.empty()) return std::nullopt;
  const auto bottleneck = constraints(demands).front();
  auto others = parts(demands);
  if (bottleneck.kind != Kind::depth) {
    others.erase(others.begin());
    others.push_back({Kind::depth, 0, without(demands, bottleneck).unqueued_ns() / demands.in_flight});
    sort_slowest_first(others);
  }
  return others.front().period_ns > 0 ? std::optional(others.front()) : std::nullopt;
}

std::optional<int> sufficient_depth(const Demands& demands) {
  const double largest = demands.links.empty() ? of_one_thread(demands).period_ns : parts(demands).front().period_ns;
  const double depth = largest > 0 ? std::ceil(demands.unqueued_ns() / largest) : kMostInFlight + 1;
  return depth <= kMostInFlight ? std::optional(static_cast<int>(depth)) : std::nullopt;
}

const Busy* busy_at(const Demands& demands, const Constraint& constraint) {
  return busy_in(demands, constraint);
}

double throughput_at(const Demands& demands, double period_ns) {
  return demands.batch * 1e9 / period_ns;
}

double reached(const Demands& demands) {
  return constraints(demands).front().period_ns / demands.period_ns();
}

}  // namespace paretopipe::diagnosis
