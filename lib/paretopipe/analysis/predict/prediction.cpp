#include <paretopipe/analysis/predict/pipeline_model.hpp>
#include <paretopipe/analysis/predict/prediction.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/partitions.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/ranges.h>  // fmt::join, from fmt 11 on

namespace paretopipe::predict {

namespace {

/// True if no number of `one` is worse than the other's.
bool at_least_as_good(const PredictedSplit& one, const PredictedSplit& other, bool memory) {
  return one.latency_ns.value <= other.latency_ns.value &&
         one.throughput_image_per_s.value >= other.throughput_image_per_s.value &&
         (!memory || *one.most_memory_bytes() <= *other.most_memory_bytes());
}

/// The splits that no other one beats, one of several equal ones; lowest latency first.
std::vector<PredictedSplit> undominated(std::vector<PredictedSplit> splits, bool memory) {
  const auto key = [&](const PredictedSplit& split) {
    return std::tuple(split.latency_ns.value, -split.throughput_image_per_s.value,
                      memory ? *split.most_memory_bytes() : 0);
  };
  std::stable_sort(splits.begin(), splits.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<PredictedSplit> frontier;
  for (auto& split : splits) {
    const bool beaten = std::any_of(frontier.begin(), frontier.end(),
                                    [&](const auto& better) { return at_least_as_good(better, split, memory); });
    if (!beaten) frontier.push_back(std::move(split));
  }
  return frontier;
}

/// Finds the frontier of a question with one codec. The memory of stages may be limited, but is no objective.
class FrontierSearch {
 public:
  FrontierSearch(const Question& question, const std::string& codec)
      : question_(question), pipeline_(question, codec) {}

  std::vector<PredictedSplit> run() const {
    std::vector<PredictedSplit> splits;
    for (const auto& ends : both_ends()) {
      if (pipeline_.fits(ends)) splits.push_back(pipeline_.judge(ends));
    }
    if (pipeline_.stages() > 1 && pipeline_.separable()) {
      for (const auto& solution : by_stages()) splits.push_back(pipeline_.judge(solution.stages));
    } else if (pipeline_.stages() > 1) {
      for (auto& split : one_by_one()) splits.push_back(std::move(split));
    }
    return undominated(std::move(splits), false);
  }

 private:
  /// All local: on the first device, or in any order on each. All remote: the input crosses every link.
  std::vector<std::vector<PlacedStage>> both_ends() const {
    const int blocks = pipeline_.blocks();
    const int stages = pipeline_.stages();
    std::vector<std::vector<PlacedStage>> ends;
    const auto locals = question_.any_order ? static_cast<int>(pipeline_.candidates().size()) : 1;
    for (int device = 0; device < locals; ++device) ends.push_back({{device, 0, blocks}});
    if (!question_.any_order && stages > 1) {
      ends.push_back(pipeline_.placed(std::vector<int>(static_cast<std::size_t>(stages) - 1, 0)));
    }
    return ends;
  }

  /// The frontier of the splits in which every stage has blocks. Takes a separable pipeline.
  std::vector<Solution> by_stages() const {
    const auto devices = pipeline_.stage_times();
    auto links = pipeline_.link_times();
    if (!question_.any_order) return frontier_in_order(devices, links);
    // All links are alike but the last one, which has the network's other direction. Only it carries what leaves the
    // last block.
    auto link = links.front();
    link.latency_ns.back() = links.back().latency_ns.back();
    link.busy_ns.back() = links.back().busy_ns.back();
    return frontier_in_any_order(devices, pipeline_.stages(), link);
  }

  void check_number() const {
    const auto devices = pipeline_.candidates().size();
    double tried = static_cast<double>(experiment::count_partitions(pipeline_.blocks(), pipeline_.stages()));
    for (int stage = 0; question_.any_order && stage < pipeline_.stages(); ++stage) {
      tried *= static_cast<double>(devices) - stage;
    }
    if (tried <= static_cast<double>(kMostTried)) return;
    throw UsageError(
        fmt::format("predict {:.3g} partitions and orders whose stages share CPUs or hold each other up: they have to "
                    "be tried one by one, and beyond {} it takes too long; ask for fewer stages, or leave --fit out",
                    tried, kMostTried));
  }

  /// The same frontier by trying all splits, for pipelines whose stages depend on each other.
  std::vector<PredictedSplit> one_by_one() const {
    check_number();
    std::map<double, PredictedSplit> best;  // by latency; throughput rises with it
    std::vector<PlacedStage> stages;
    place_next(stages, best);
    std::vector<PredictedSplit> splits;
    for (auto& [latency, split] : best) splits.push_back(std::move(split));
    return splits;
  }

  void place_next(std::vector<PlacedStage>& stages, std::map<double, PredictedSplit>& best) const {
    const int placed = static_cast<int>(stages.size());
    if (placed == pipeline_.stages()) return keep(stages, best);
    const int begin = stages.empty() ? 0 : stages.back().end;
    const int left = pipeline_.stages() - placed - 1;
    for (int device = 0; device < static_cast<int>(pipeline_.candidates().size()); ++device) {
      const auto taken = [&](const PlacedStage& stage) { return stage.device == device; };
      if (question_.any_order ? std::any_of(stages.begin(), stages.end(), taken) : device != placed) continue;
      for (int end = left == 0 ? pipeline_.blocks() : begin + 1; end + left <= pipeline_.blocks(); ++end) {
        stages.push_back({device, begin, end});
        if (begin < end && pipeline_.fits({stages.back()})) place_next(stages, best);
        stages.pop_back();
      }
    }
  }

  void keep(const std::vector<PlacedStage>& stages, std::map<double, PredictedSplit>& best) const {
    auto split = pipeline_.judge(stages);
    const auto rate = [](const auto& entry) { return entry->second.throughput_image_per_s.value; };
    const auto latency = split.latency_ns.value;
    const auto throughput = split.throughput_image_per_s.value;
    auto next = best.upper_bound(latency);
    if (next != best.begin() && rate(std::prev(next)) >= throughput) return;
    auto beaten = best.lower_bound(latency);
    while (beaten != best.end() && rate(beaten) <= throughput) beaten = best.erase(beaten);
    best.emplace(latency, std::move(split));
  }

  const Question& question_;
  PipelineModel pipeline_;
};

/// The frontier over all codecs. Of equal splits, it has the one whose codec is named first.
std::vector<PredictedSplit> frontier_of(const Question& question) {
  std::vector<PredictedSplit> splits;
  for (const auto& codec : question.codecs) {
    for (auto& split : FrontierSearch(question, codec).run()) splits.push_back(std::move(split));
  }
  return undominated(std::move(splits), false);
}

/// The frontier with a third objective: the memory of the stage that needs most. Each search allows less memory than
/// the last frontier needed, until nothing fits. Any limit in between would give the same frontier again.
std::vector<PredictedSplit> with_least_memory(Question question) {
  std::vector<PredictedSplit> splits;
  for (;;) {
    const auto found = frontier_of(question);
    if (found.empty()) break;
    std::int64_t most = 0;
    for (const auto& split : found) most = std::max(most, *split.most_memory_bytes());
    splits.insert(splits.end(), found.begin(), found.end());
    if (question.memory_bytes.empty()) question.memory_bytes = {most};
    for (auto& limit : question.memory_bytes) limit = std::min(limit, most - 1);
  }
  return undominated(std::move(splits), true);
}

void check(const Question& question) {
  if (question.profiles.empty()) throw UsageError("predict: name at least one profile that `paretopipe profile` made");
  if (question.codecs.empty()) throw UsageError("predict: name at least one codec, such as none");
  if (question.depth < 1 || question.stages < 0) {
    throw UsageError(fmt::format("predict {} stages with {} batches in flight: both must be at least 1",
                                 question.stages, question.depth));
  }
}

}  // namespace

std::vector<int> PredictedSplit::split_points() const {
  std::vector<int> points;
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) points.push_back(stages[i].end);
  return points;
}

std::optional<std::int64_t> PredictedSplit::most_memory_bytes() const {
  std::optional<std::int64_t> most = 0;
  for (const auto& memory : memory_bytes) {
    if (!memory) return std::nullopt;
    most = std::max(*most, *memory);
  }
  return most;
}

int stages_of(const Question& question) {
  if (question.stages > 0) return question.stages;
  std::size_t devices = 0;
  for (const auto& profile : question.profiles) devices += profile.devices.size();
  return static_cast<int>(devices);
}

namespace {

/// The codecs that all profiles know.
std::vector<std::string> known_codecs(const std::vector<Profile>& profiles) {
  std::vector<std::string> codecs{codec::kNone};
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const auto known = profiles[i].codecs();
    if (i == 0) codecs = known;
    std::erase_if(codecs, [&](const auto& one) { return std::find(known.begin(), known.end(), one) == known.end(); });
  }
  return codecs;
}

}  // namespace

Question question_about(std::vector<Profile> profiles, const experiment::Trial& trial) {
  Question question{.profiles = std::move(profiles)};
  question.codecs = known_codecs(question.profiles);
  question.stages = trial.stage_count();
  question.depth = trial.depth;
  question.shaping = trial.shaping;
  question.placement = trial.placement;
  if (trial.network.shaped()) question.network = trial.network;
  return question;
}

Prediction predict(const Question& question) {
  check(question);
  const PipelineModel pipeline(question, question.codecs.front());
  Prediction prediction;
  prediction.model = pipeline.model().model;
  prediction.batch = pipeline.model().batch;
  prediction.stages = pipeline.stages();
  prediction.codecs = question.codecs;
  prediction.depth = question.depth;
  prediction.rate_image_per_s = question.rate_image_per_s;
  prediction.corrections = question.corrections;
  if (question.network) prediction.network = question.network->name;
  for (const auto& one : pipeline.candidates()) {
    prediction.devices.push_back(one.device->name);
    prediction.estimated_within = std::max(prediction.estimated_within, one.estimated_within);
  }
  prediction.frontier = question.least_memory ? with_least_memory(question) : frontier_of(question);
  return prediction;
}

std::vector<PredictedSplit> predict_splits(const Question& question, const std::vector<experiment::Cut>& cuts) {
  check(question);
  std::map<std::string, PipelineModel> pipelines;
  std::vector<PredictedSplit> predicted;
  for (const auto& cut : cuts) {
    const auto& pipeline = pipelines.try_emplace(cut.codec, question, cut.codec).first->second;
    const auto& points = cut.split_points;
    const bool fits = static_cast<int>(points.size()) + 1 == pipeline.stages() &&
                      std::is_sorted(points.begin(), points.end()) &&
                      (points.empty() || (points.front() >= 0 && points.back() <= pipeline.blocks()));
    if (!fits) {
      throw UsageError(fmt::format("predict the split {}: a model of {} blocks has none such in {} stages",
                                   fmt::join(points, ","), pipeline.blocks(), pipeline.stages()));
    }
    predicted.push_back(pipeline.judge(pipeline.placed(points)));
  }
  return predicted;
}

}  // namespace paretopipe::predict
