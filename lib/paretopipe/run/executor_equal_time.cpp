// How an executor finds the partition whose slowest stage computes fastest.
#include <paretopipe/analysis/predict/pipeline_model.hpp>
#include <paretopipe/experiment/partitions.hpp>
#include <paretopipe/run/pipeline_executor.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace paretopipe::run {

namespace {

/// Enough for a median that an interruption does not shift.
constexpr int kTimingRounds = 5;

experiment::BlockRange blocks_of(const experiment::SplitPoints& cuts, int stage, int blocks) {
  const auto place = static_cast<std::size_t>(stage);
  return {stage == 0 ? 0 : cuts[place - 1], place == cuts.size() ? blocks : cuts[place]};
}

predict::StageTimes nothing_possible(int blocks) {
  predict::StageTimes times(blocks);
  for (int begin = 0; begin < blocks; ++begin) {
    for (int end = begin + 1; end <= blocks; ++end) times.forbid(begin, end);
  }
  return times;
}

/// Times the runs that a stage could have. The first stage's begin with the model, and the last one's end with it.
class StageTiming {
 public:
  using Ask = std::function<std::vector<stage::RunTime>(const stage::TimeRuns&)>;

  /// `before` and `after`: how many stages come before and after this one.
  StageTiming(stage::TimeRuns request, int before, int after, std::optional<double> cpu_quota, Ask ask)
      : request_(std::move(request)), before_(before), after_(after), ask_(std::move(ask)) {
    device_.cpu_quota = cpu_quota;
  }

  std::int64_t time(experiment::BlockRange blocks) {
    request_.begin = blocks.begin;
    request_.ends = {blocks.end};
    return usual_ns(ask_(request_).front());
  }

  /// Leaves out runs that take longer than `limit_ns`, the slowest stage of a known partition: no better one has them.
  predict::StageTimes runs_within(std::int64_t limit_ns) {
    auto times = nothing_possible(request_.block_count);
    request_.enough_ns = limit_ns;
    for (int begin = last_begin(); begin >= before_; --begin) {
      request_.begin = begin;
      request_.ends.clear();
      for (int end = after_ == 0 ? request_.block_count : begin + 1; end <= last_end(); ++end) {
        request_.ends.push_back(end);
      }
      const auto runs = ask_(request_);
      for (const auto& run : runs) times.set(begin, run.end, usual_ns(run));
      if (after_ == 0 && *std::ranges::min_element(runs.back().compute_ns) > limit_ns) break;  // longer ones take more
    }
    return times;
  }

  /// A long model has too many runs to time them all, so their times are sums of the times of blocks.
  predict::StageTimes sums_of_blocks() {
    auto times = nothing_possible(request_.block_count);
    std::vector<std::int64_t> until{0};
    for (int block = 0; block < request_.block_count; ++block) {
      until.push_back(until.back() + time({block, block + 1}));
    }
    for (int begin = before_; begin <= last_begin(); ++begin) {
      for (int end = begin + 1; end <= last_end(); ++end) {
        times.set(begin, end, until[static_cast<std::size_t>(end)] - until[static_cast<std::size_t>(begin)]);
      }
    }
    return times;
  }

 private:
  int last_begin() const { return before_ == 0 ? 0 : last_end() - 1; }
  int last_end() const { return request_.block_count - after_; }
  std::int64_t usual_ns(const stage::RunTime& run) const {
    return predict::whole(predict::band_of(device_, run.compute_ns).value);
  }

  stage::TimeRuns request_;
  int before_;
  int after_;
  predict::ProfiledDevice device_;  ///< what its times mean
  Ask ask_;
};

/// The cuts with the shortest period if no link delays anything.
experiment::SplitPoints shortest_period(const std::vector<predict::StageTimes>& stages, std::size_t blocks) {
  const predict::LinkTimes nothing{std::vector<std::int64_t>(blocks + 1), std::vector<std::int64_t>(blocks + 1)};
  const auto best = predict::frontier_in_order(stages, std::vector(stages.size(), nothing)).back();
  experiment::SplitPoints cuts;
  for (std::size_t stage = 0; stage + 1 < best.stages.size(); ++stage) cuts.push_back(best.stages[stage].end);
  return cuts;
}

}  // namespace

experiment::SplitPoints PipelineExecutor::equal_time(const experiment::UncutTrial& trial,
                                                     const experiment::ModelDescription& model) {
  const int blocks = model.block_count(), stages = static_cast<int>(trial.cpus.size());
  if (blocks < stages) return {};
  const auto request = prepare_to_time(trial, model, kTimingRounds);
  std::vector<StageTiming> timings;
  for (int stage = 0; stage < stages; ++stage) {
    timings.emplace_back(timing_at(stage, trial, request), stage, stages - 1 - stage,
                         trial.device_profile(stage).cpu_quota,
                         [this, stage](const auto& asked) { return pipeline_->time_runs(stage, asked).runs; });
  }
  std::vector<predict::StageTimes> times;
  if (blocks > predict::kMostProfiledBlocks) {
    for (auto& timing : timings) times.push_back(timing.sums_of_blocks());
    return shortest_period(times, static_cast<std::size_t>(blocks));
  }
  const auto equal_load = experiment::share_blocks(experiment::Scheme::equal_load, blocks, stages);
  std::vector<std::int64_t> equal_load_ns;
  for (int stage = 0; stage < stages; ++stage) {
    equal_load_ns.push_back(timings[static_cast<std::size_t>(stage)].time(blocks_of(equal_load, stage, blocks)));
  }
  const auto limit_ns = *std::ranges::max_element(equal_load_ns);
  for (int stage = 0; stage < stages; ++stage) {
    const auto place = static_cast<std::size_t>(stage);
    times.push_back(timings[place].runs_within(limit_ns));
    const auto [begin, end] = blocks_of(equal_load, stage, blocks);
    times.back().set(begin, end, equal_load_ns[place]);  // possible, however busy the machine was meanwhile
  }
  return shortest_period(times, static_cast<std::size_t>(blocks));
}

}  // namespace paretopipe::run
