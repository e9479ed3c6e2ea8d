#include <paretopipe/analysis/predict/prediction.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/ranges.h>  // fmt::join, from fmt 11 on

namespace paretopipe::predict {

namespace {

/// How a link's time depends on what crosses it.
struct Way {
  double fixed_ns = 0;  ///< does not keep the next batch off
  double jitter_ns = 0;
  double rate_bit_per_s = std::numeric_limits<double>::infinity();

  double busy_ns(std::int64_t bytes) const { return static_cast<double>(bytes) * 8e9 / rate_bit_per_s; }

  /// Bytes do not overtake each other, so those that jitter delays most decide. Three deviations contain them.
  Band latency_ns(std::int64_t bytes) const {
    const auto usual = fixed_ns + busy_ns(bytes);
    return {usual - std::min(fixed_ns, 3 * jitter_ns), usual, usual + 3 * jitter_ns};
  }
};

/// A device of the pipeline: which file it came from, and the times of its runs.
struct Candidate {
  std::size_t profile = 0;
  int number = 0;  ///< in that profile
  StageTimes fast;
  StageTimes usual;
  StageTimes slow;
};

/// The share of a rate that is payload: TCP's 1448 bytes of a frame's 1514.
constexpr double kPayloadShare = 1448.0 / 1514.0;

constexpr double kFastQuantile = 0.1;
constexpr double kSlowQuantile = 0.9;

std::size_t at(int number) {
  return static_cast<std::size_t>(number);
}

std::int64_t whole(double ns) {
  return std::clamp<std::int64_t>(std::llround(ns), 0, StageTimes::kLongestNs);
}

Candidate candidate_of(const Question& question, std::size_t profile, int number, std::size_t position) {
  const auto& device = question.profiles[profile].devices[at(number)];
  const int blocks = question.profiles[profile].model.block_count();
  Candidate candidate{profile, number, StageTimes(blocks), StageTimes(blocks), StageTimes(blocks)};
  const auto& limits = question.memory_bytes;
  for (const auto& run : device.runs) {
    const std::vector<double> samples(run.compute_ns.begin(), run.compute_ns.end());
    candidate.fast.set(run.begin, run.end, whole(*stats::quantile(samples, kFastQuantile)));
    candidate.usual.set(run.begin, run.end, whole(*stats::median(samples)));
    candidate.slow.set(run.begin, run.end, whole(*stats::quantile(samples, kSlowQuantile)));
    if (limits.empty()) continue;
    if (!run.memory_bytes) {
      throw UsageError(fmt::format(
          "keep --memory: the profile of {} does not say how much its blocks need; profile it again", device.name));
    }
    if (*run.memory_bytes > limits[limits.size() == 1 ? 0 : position]) candidate.usual.forbid(run.begin, run.end);
  }
  return candidate;
}

class Predictor {
 public:
  explicit Predictor(const Question& question)
      : question_(question), model_(question.profiles.at(0).model), blocks_(model_.block_count()) {
    check_profiles();
    for (std::size_t profile = 0; profile < question.profiles.size(); ++profile) add_devices_of(profile);
    stages_ = stages_of(question);
    check_devices();
    find_ways();
  }

  PredictedSplit of(const std::vector<int>& split_points) const {
    std::vector<PlacedStage> stages;
    int begin = 0;
    for (int stage = 0; stage < stages_; ++stage) {
      const auto last = stage == static_cast<int>(split_points.size());
      const int end = last ? blocks_ : split_points.at(at(stage));
      stages.push_back({stage, begin, end});
      begin = end;
    }
    if (stages.front().end == blocks_) stages.resize(1);  // all local: nothing crosses a link
    return judge(stages);
  }

  int stages() const { return stages_; }
  int blocks() const { return blocks_; }

  Prediction run() const {
    Prediction prediction;
    prediction.model = model_.model;
    prediction.batch = model_.batch;
    prediction.stages = stages_;
    prediction.depth = question_.depth;
    if (question_.network) prediction.network = question_.network->name;
    for (const auto& one : candidates_) {
      prediction.devices.push_back(question_.profiles[one.profile].devices[at(one.number)].name);
    }
    std::vector<PredictedSplit> splits;
    for (const auto& solution : inner_frontier()) splits.push_back(judge(solution.stages));
    for (const auto& ends : both_ends()) splits.push_back(judge(ends));
    prediction.frontier = undominated(std::move(splits));
    return prediction;
  }

 private:
  void check_profiles() const {
    for (const auto& other : question_.profiles) {
      if (const auto why = difference(question_.profiles.front(), other); !why.empty()) {
        throw UsageError(fmt::format("predict from these profiles together: {}", why));
      }
    }
  }

  void add_devices_of(std::size_t profile) {
    const auto count = static_cast<int>(question_.profiles[profile].devices.size());
    for (int number = 0; number < count; ++number) places_.emplace_back(profile, number);
    if (profile + 1 < question_.profiles.size()) return;
    const auto limits = question_.memory_bytes.size();
    if (limits > 1 && limits != places_.size()) {
      throw UsageError(fmt::format("{} memory limits were given for {} devices; give one for all, or one for each",
                                   limits, places_.size()));
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      candidates_.push_back(candidate_of(question_, places_[i].first, places_[i].second, i));
    }
  }

  void check_devices() const {
    const auto devices = static_cast<int>(candidates_.size());
    if (question_.any_order ? stages_ <= devices : stages_ == devices) return;
    throw UsageError(fmt::format(
        "the profiles hold {} devices, and the pipeline has {} stages; name as many as there are stages, a file twice "
        "for a second one of its devices{}",
        devices, stages_, question_.any_order ? "" : ", or let --any-order choose"));
  }

  const ProfiledLink* probed(std::size_t from, std::size_t to) const {
    const auto [profile, sender] = places_[from];
    const auto [same_profile, receiver] = places_[to];
    if (profile != same_profile) return nullptr;
    for (const auto& link : question_.profiles[profile].links) {
      if (link.from == sender && link.to == receiver) return &link;
    }
    return nullptr;
  }

  void find_ways() {
    if (stages_ == 1) return;
    if (question_.network) {
      for (int stage = 0; stage < stages_; ++stage) {
        const bool back = stage + 1 == stages_;
        ways_.push_back(shaped_way(back ? question_.network->backward : question_.network->forward));
      }
      return;
    }
    if (question_.any_order) {
      throw UsageError("choose among orders over links of which each is another: name the --network of all of them");
    }
    for (std::size_t stage = 0; stage < candidates_.size(); ++stage) {
      const auto next = (stage + 1) % candidates_.size();
      const auto* link = probed(stage, next);
      if (link == nullptr) {
        throw UsageError(
            fmt::format("nothing says how fast the way from {} to {} is: profile them together, or name a --network",
                        name_of(stage), name_of(next)));
      }
      ways_.push_back({static_cast<double>(link->round_trip_ns) / 2, 0, link->rate_bit_per_s});
    }
  }

  const std::string& name_of(std::size_t device) const {
    return question_.profiles[places_[device].first].devices[at(places_[device].second)].name;
  }

  /// What the conditions prescribe, on top of the slowest link that was probed.
  Way shaped_way(const experiment::LinkConditions& conditions) const {
    if (conditions.loss > 0 || conditions.reorder > 0 || conditions.duplicate > 0) {
      throw UsageError(
          fmt::format("predict over {}: it loses, reorders or duplicates packets, and what TCP makes of that has to be "
                      "measured: paretopipe sweep --network {}",
                      question_.network->name, question_.network->name));
    }
    Way way;
    for (const auto& profile : question_.profiles) {
      for (const auto& link : profile.links) {
        way.fixed_ns = std::max(way.fixed_ns, static_cast<double>(link.round_trip_ns) / 2);
        way.rate_bit_per_s = std::min(way.rate_bit_per_s, link.rate_bit_per_s);
      }
    }
    way.fixed_ns += static_cast<double>(conditions.delay.count());
    way.jitter_ns = static_cast<double>(conditions.jitter.count());
    if (conditions.rate_bit_per_s) {
      const auto share = question_.shaping == experiment::Shaping::emulated ? 1 : kPayloadShare;
      way.rate_bit_per_s = std::min(way.rate_bit_per_s, static_cast<double>(*conditions.rate_bit_per_s) * share);
    }
    if (std::isinf(way.rate_bit_per_s)) {
      throw UsageError(
          fmt::format("predict over {}: it has no rate, and the profiles probed no link; name a network that has one",
                      question_.network->name));
    }
    return way;
  }

  LinkTimes times_of(const Way& way) const {
    LinkTimes times;
    for (int cut = 0; cut <= blocks_; ++cut) {
      times.busy_ns.push_back(whole(way.busy_ns(model_.bytes_at(cut))));
      times.latency_ns.push_back(whole(way.latency_ns(model_.bytes_at(cut)).value));
    }
    return times;
  }

  /// Of the splits in which every stage has blocks.
  std::vector<Solution> inner_frontier() const {
    if (stages_ == 1) return {};
    std::vector<StageTimes> devices;
    for (const auto& one : candidates_) devices.push_back(one.usual);
    std::vector<LinkTimes> links;
    for (const auto& way : ways_) links.push_back(times_of(way));
    return question_.any_order ? in_any_order(devices, links) : frontier_in_order(devices, links);
  }

  /// All links are alike but the last one, which has the network's other direction. Only it carries what leaves the
  /// last block.
  std::vector<Solution> in_any_order(const std::vector<StageTimes>& devices,
                                     const std::vector<LinkTimes>& links) const {
    auto link = links.front();
    link.latency_ns.back() = links.back().latency_ns.back();
    link.busy_ns.back() = links.back().busy_ns.back();
    return frontier_in_any_order(devices, stages_, link);
  }

  /// All local: on the first device, or in any order on each. All remote: the input crosses every link.
  std::vector<std::vector<PlacedStage>> both_ends() const {
    std::vector<std::vector<PlacedStage>> ends;
    const auto locals = question_.any_order ? static_cast<int>(candidates_.size()) : 1;
    for (int device = 0; device < locals; ++device) {
      if (candidates_[at(device)].usual.possible(0, blocks_)) ends.push_back({{device, 0, blocks_}});
    }
    if (question_.any_order || stages_ == 1 || !candidates_.back().usual.possible(0, blocks_)) return ends;
    auto& remote = ends.emplace_back();
    for (int stage = 0; stage + 1 < stages_; ++stage) remote.push_back({stage, 0, 0});
    remote.push_back({stages_ - 1, 0, blocks_});
    return ends;
  }

  static Band time_of(const Candidate& device, const PlacedStage& stage) {
    if (stage.begin == stage.end) return {};
    const auto time = [&](const StageTimes& times) { return static_cast<double>(times.at(stage.begin, stage.end)); };
    return {time(device.fast), time(device.usual), time(device.slow)};
  }

  PredictedSplit judge(const std::vector<PlacedStage>& stages) const {
    PredictedSplit split;
    split.stages = stages;
    Band period;
    const auto occupy = [&](const Band& busy, Bottleneck::Kind kind, std::size_t number) {
      if (busy.value > period.value) split.bottleneck = {kind, static_cast<int>(number)};
      period = {std::max(period.low, busy.low), std::max(period.value, busy.value), std::max(period.high, busy.high)};
    };
    const auto add = [&](const Band& time) {
      split.latency_ns.low += time.low;
      split.latency_ns.value += time.value;
      split.latency_ns.high += time.high;
    };
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const auto time = time_of(candidates_[at(stages[i].device)], stages[i]);
      split.stage_ns.push_back(time);
      add(time);
      occupy(time, Bottleneck::Kind::stage, i);
      if (stages.size() == 1) break;
      const auto bytes = model_.bytes_at(stages[i].end);
      const auto busy = ways_[i].busy_ns(bytes);
      split.payload_bytes.push_back(bytes);
      add(ways_[i].latency_ns(bytes));
      occupy({busy, busy, busy}, Bottleneck::Kind::link, i);
    }
    const auto& latency = split.latency_ns;
    const double depth = question_.depth;
    occupy({latency.low / depth, latency.value / depth, latency.high / depth}, Bottleneck::Kind::depth, 0);
    const auto rate = [&](double period_ns) { return model_.batch * 1e9 / std::max(1.0, period_ns); };
    split.throughput_image_per_s = {rate(period.high), rate(period.value), rate(period.low)};
    return split;
  }

  /// A split that has a lower latency and at least the throughput of another beats it, and vice versa.
  static std::vector<PredictedSplit> undominated(std::vector<PredictedSplit> splits) {
    const auto key = [](const PredictedSplit& split) {
      return std::pair(split.latency_ns.value, -split.throughput_image_per_s.value);
    };
    std::stable_sort(splits.begin(), splits.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    std::vector<PredictedSplit> frontier;
    for (auto& split : splits) {
      if (frontier.empty() || split.throughput_image_per_s.value > frontier.back().throughput_image_per_s.value) {
        frontier.push_back(std::move(split));
      }
    }
    return frontier;
  }

  const Question& question_;
  const experiment::ModelDescription& model_;
  int blocks_;
  int stages_ = 0;
  std::vector<std::pair<std::size_t, int>> places_;  ///< of each device: its profile, and its number there
  std::vector<Candidate> candidates_;                ///< likewise
  std::vector<Way> ways_;                            ///< from each stage to the next
};

}  // namespace

std::vector<int> PredictedSplit::split_points() const {
  std::vector<int> points;
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) points.push_back(stages[i].end);
  return points;
}

int stages_of(const Question& question) {
  if (question.stages > 0) return question.stages;
  std::size_t devices = 0;
  for (const auto& profile : question.profiles) devices += profile.devices.size();
  return static_cast<int>(devices);
}

namespace {

void check(const Question& question) {
  if (question.profiles.empty()) throw UsageError("predict: name at least one profile that `paretopipe profile` made");
  if (question.depth < 1 || question.stages < 0) {
    throw UsageError(fmt::format("predict {} stages with {} batches in flight: both must be at least 1",
                                 question.stages, question.depth));
  }
}

}  // namespace

Prediction predict(const Question& question) {
  check(question);
  return Predictor(question).run();
}

std::vector<PredictedSplit> predict_splits(const Question& question, const std::vector<std::vector<int>>& splits) {
  check(question);
  const Predictor predictor(question);
  std::vector<PredictedSplit> predicted;
  for (const auto& points : splits) {
    const bool fits = static_cast<int>(points.size()) + 1 == predictor.stages() &&
                      std::is_sorted(points.begin(), points.end()) &&
                      (points.empty() || (points.front() >= 0 && points.back() <= predictor.blocks()));
    if (!fits) {
      throw UsageError(fmt::format("predict the split {}: a model of {} blocks has none such in {} stages",
                                   fmt::join(points, ","), predictor.blocks(), predictor.stages()));
    }
    predicted.push_back(predictor.of(points));
  }
  return predicted;
}

}  // namespace paretopipe::predict
