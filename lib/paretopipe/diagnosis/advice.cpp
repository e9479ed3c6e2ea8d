#include "advice.hpp"

#include <map>

namespace paretopipe::diagnosis {
namespace {

/// Smaller gains are not advised: measurements scatter by as much.
constexpr double kWorthwhile = 0.02;
/// A cut counts as lighter if it carries less than this share of the bytes.
constexpr double kLighter = 0.8;
/// A link can be made many times as fast, but a stage hardly can. If compute is the bottleneck, the next bound is only
/// mentioned if it is at least this share of it.
constexpr double kInReach = 0.5;

double throughput_of(const ConfigurationDiagnosis& one) {
  return one.demands->throughput_image_per_s;
}

/// The bytes that cross at each split point of the group's measured configurations. All-local and all-remote
/// configurations are left out, because no partition moves one of several of their cuts.
std::map<int, std::int64_t> bytes_at_cuts(const GroupDiagnosis& group) {
  std::map<int, std::int64_t> result;
  for (const auto& one : group.configurations) {
    if (!one.demands || one.trial().all_local() || one.trial().all_remote()) continue;
    const auto& cuts = one.trial().split_points;
    for (std::size_t i = 0; i < cuts.size() && i < one.demands->links.size(); ++i) {
      result[cuts[i]] = one.demands->links[i].payload_bytes;
    }
  }
  return result;
}

bool better(const LighterCut& left, const LighterCut& right) {
  if ((left.measured != nullptr) != (right.measured != nullptr)) return left.measured != nullptr;
  if (left.measured != nullptr) return throughput_of(*left.measured) > throughput_of(*right.measured);
  return left.bytes < right.bytes;
}

/// The best place for cut `index` between its neighbours where clearly less crosses it.
std::optional<LighterCut> lighter_cut(const GroupDiagnosis& group, const ConfigurationDiagnosis& one,
                                      std::size_t index) {
  const auto& cuts = one.trial().split_points;
  const int after = index == 0 ? 0 : cuts[index - 1];
  const int before = index + 1 < cuts.size() ? cuts[index + 1] : one.trial().block_count;
  const auto payload = static_cast<double>(one.demands->links[index].payload_bytes);
  std::optional<LighterCut> best;
  for (const auto& [block, bytes] : bytes_at_cuts(group)) {
    if (block <= after || block >= before || static_cast<double>(bytes) >= kLighter * payload) continue;
    auto moved = cuts;
    moved[index] = block;
    const LighterCut candidate{block, bytes, group.measured(moved)};
    if (!best || better(candidate, *best)) best = candidate;
  }
  return best;
}

const ConfigurationDiagnosis* evenest_split(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  const auto slowest_ns = [](const auto& any) { return any.demands->slowest_stage().busy.mean_ns; };
  const auto* evenest = &one;
  for (const auto& other : group.configurations) {
    if (other.demands && slowest_ns(other) < slowest_ns(*evenest)) evenest = &other;
  }
  return slowest_ns(*evenest) < slowest_ns(one) * (1 - kWorthwhile) ? evenest : nullptr;
}

}  // namespace

Advice advise(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  Advice advice;
  const auto& bottleneck = one.bounds.front();
  advice.next = next_constraint(*one.demands);
  if (bottleneck.kind == Kind::depth) advice.depth = sufficient_depth(*one.demands);
  if (bottleneck.kind == Kind::link) {
    advice.lighter = lighter_cut(group, one, static_cast<std::size_t>(bottleneck.stage));
  }
  if (bottleneck.kind == Kind::compute) {
    if (advice.next && advice.next->period_ns < kInReach * bottleneck.period_ns) advice.next.reset();
    advice.evenest = evenest_split(group, one);
  }
  if (throughput_of(*group.fastest()) >= throughput_of(one) * (1 + kWorthwhile)) advice.fastest = group.fastest();
  return advice;
}

}  // namespace paretopipe::diagnosis
