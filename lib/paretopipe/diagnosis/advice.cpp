#include "advice.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "words.hpp"

namespace paretopipe::diagnosis {
namespace {

/// A change by less is no advice: measurements scatter by as much.
constexpr double kWorthwhile = 0.02;
/// A cut must carry less than this share of the bytes to be called lighter.
constexpr double kLighter = 0.8;
/// Links can be made many times as fast, but hardly a stage: of what bounds less than this share of it nothing is said.
constexpr double kInReach = 0.5;

double throughput_of(const ConfigurationDiagnosis& one) {
  return one.demands->throughput_image_per_s;
}

double slowest_compute_ns(const ConfigurationDiagnosis& one) {
  double slowest = 0;
  for (const auto& stage : one.demands->stages) slowest = std::max(slowest, stage.busy.mean_ns);
  return slowest;
}

/// What crosses the cut at each split point of the group that a measured configuration has. Cuts of empty stages at the
/// endpoints are left out: to move one of several cuts there is no partition.
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

/// Another place for one of the cuts.
struct LighterCut {
  int block = 0;
  std::int64_t bytes = 0;
  const ConfigurationDiagnosis* measured = nullptr;  ///< with the other cuts where they are; null where nobody tried
};

bool better(const LighterCut& left, const LighterCut& right) {
  if ((left.measured != nullptr) != (right.measured != nullptr)) return left.measured != nullptr;
  if (left.measured != nullptr) return throughput_of(*left.measured) > throughput_of(*right.measured);
  return left.bytes < right.bytes;
}

/// The best place for cut `index` among those between its neighbours where less would cross it.
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

/// A sentence, and the configuration that it has told of, if any.
struct Suggestion {
  std::string sentence{};
  const ConfigurationDiagnosis* named = nullptr;
};

Suggestion about_link(const GroupDiagnosis& group, const ConfigurationDiagnosis& one, int from) {
  const auto index = static_cast<std::size_t>(from);
  const auto found = lighter_cut(group, one, index);
  if (!found) return {"No cut that was measured in its place carries clearly less."};
  const auto payload = static_cast<double>(one.demands->links[index].payload_bytes);
  const auto share = static_cast<double>(found->bytes) / payload;
  const auto sentence =
      fmt::format("In its place, a cut after block {} would carry {} of that ({} a batch)",
                  numbered(found->block, group), percent(share), bytes(static_cast<double>(found->bytes)));
  if (found->measured == nullptr) return {fmt::format("{}; it was not measured.", sentence)};
  return {fmt::format("{}; measured: {}.", sentence, rate(throughput_of(*found->measured))), found->measured};
}

Suggestion about_compute(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  const ConfigurationDiagnosis* evenest = nullptr;
  for (const auto& other : group.configurations) {
    if (!other.demands) continue;
    if (evenest == nullptr || slowest_compute_ns(other) < slowest_compute_ns(*evenest)) evenest = &other;
  }
  const double slowest = slowest_compute_ns(one);
  if (slowest_compute_ns(*evenest) >= slowest * (1 - kWorthwhile)) {
    return {"No split that was measured has a slowest stage that computes less."};
  }
  return {fmt::format("With {} the slowest stage computes for {} instead of {}; measured: {}.",
                      way_to_cut(evenest->trial(), group), duration(slowest_compute_ns(*evenest)), duration(slowest),
                      rate(throughput_of(*evenest))),
          evenest};
}

std::string about_next(const ConfigurationDiagnosis& one) {
  const auto next = next_constraint(*one.demands);
  if (!next) return "";
  const auto& bottleneck = one.bounds.front();
  if (bottleneck.kind == Kind::compute && next->period_ns < kInReach * bottleneck.period_ns) return "";
  const auto bound = rate(throughput_at(*one.demands, next->period_ns));
  if (bottleneck.kind != Kind::depth) {
    return fmt::format("If it took no time, {} would be the bound, at {}.", name_of(*next), bound);
  }
  const auto depth = sufficient_depth(*one.demands);
  if (!depth) return "";
  return fmt::format("With {} in flight, {} would be the bound, at {}.", *depth, name_of(*next), bound);
}

Suggestion about_bottleneck(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  const auto& bottleneck = one.bounds.front();
  switch (bottleneck.kind) {
    case Kind::compute:
      return about_compute(group, one);
    case Kind::link:
      return about_link(group, one, bottleneck.stage);
    case Kind::way_back:
      return {"Every cut sends a result back."};
    case Kind::source:
      return {"No cut changes that."};
    case Kind::depth:
      break;
  }
  return {};
}

std::string about_fastest(const GroupDiagnosis& group, const ConfigurationDiagnosis& one,
                          const ConfigurationDiagnosis* named) {
  const auto* fastest = group.fastest();
  if (group.measured_count() == 1) return "No other split has a result under these settings.";
  if (fastest == &one) return "No split that was measured under these settings is faster.";
  const double gain = throughput_of(*fastest) / throughput_of(one) - 1;
  if (gain < kWorthwhile) return "";
  if (fastest == named) return fmt::format("That is the fastest that was measured, by {}.", percent(gain));
  return fmt::format("The fastest that was measured is {}: {}, {} more.", way_to_cut(fastest->trial(), group),
                     rate(throughput_of(*fastest)), percent(gain));
}

}  // namespace

std::vector<std::string> advice(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  const auto instead = about_bottleneck(group, one);
  std::vector<std::string> sentences;
  for (auto& sentence : {about_next(one), instead.sentence, about_fastest(group, one, instead.named)}) {
    if (!sentence.empty()) sentences.push_back(sentence);
  }
  return sentences;
}

}  // namespace paretopipe::diagnosis
