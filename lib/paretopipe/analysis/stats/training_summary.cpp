#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/schedule.hpp>

#include <algorithm>
#include <cmath>

namespace paretopipe::stats {

namespace {

using experiment::Action;
using Moments = std::vector<std::int64_t>;

struct Window {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;

  std::int64_t length() const { return std::max<std::int64_t>(0, end_ns - begin_ns); }
  Window within(const Window& other) const {
    return {std::max(begin_ns, other.begin_ns), std::min(end_ns, other.end_ns)};
  }
};

/// The samples of a trial, and what its schedule makes of them.
class Steps {
 public:
  Steps(const record::TrainingSamples& samples, const experiment::Trial& trial)
      : samples_(samples), extent_(extent_of(samples, trial)) {
    for (int stage = 0; stage < static_cast<int>(samples.stages.size()); ++stage) {
      actions_.push_back(experiment::actions_of(trial.training->schedule, extent_, replicas() ? 0 : stage));
    }
    check(trial);
  }

  bool replicas() const { return extent_.replicas > 1; }
  int measured() const { return extent_.steps - samples_.warmup; }
  const std::vector<std::vector<Action>>& actions() const { return actions_; }

  std::int64_t begin_of(int step) const {
    return samples_.stages.front().forward.compute_begin[at(step * extent_.micro_batches)];
  }

  /// `later`: 1 or -1 for the latest or earliest end that the clocks allow.
  std::int64_t end_of(int step, std::span<const record::ClockRelation> clocks = {}, int later = 0) const {
    std::int64_t end = 0;
    for (std::size_t i = 0; i < samples_.stages.size(); ++i) {
      const auto& stage = samples_.stages[i];
      const auto error = i < clocks.size() ? later * clocks[i].error_bound_ns : 0;
      end = std::max(end, stage.update_end[last_update_of(stage, step)] + error);
    }
    return end;
  }

  Window window() const {
    const int warmup = samples_.warmup;
    return {warmup > 0 ? end_of(warmup - 1) : begin_of(0), end_of(extent_.steps - 1)};
  }

  /// What the stage's thread did for an action, and what happened before to the tensor that the action needs. A window
  /// is empty if there is nothing of its kind: an update needs no tensor, and without a codec nothing is encoded.
  struct Turn {
    Window compute{}, own_encode{};  ///< the latter in records of older releases only
    Window encode{}, transfer{}, decode{};
  };

  /// In records of older releases the computing thread encoded.
  static bool encodes_itself(const PassTimeline& pass) { return pass.codec_begin.empty() && !pass.encoded.empty(); }

  Turn turn(std::size_t stage, std::size_t index, std::size_t update) const {
    const auto& timeline = samples_.stages[stage];
    const auto& action = actions_[stage][index];
    if (action.kind == Action::Kind::reduce) return {{all_have_gradients(update), timeline.reduce_end[update]}};
    if (action.kind == Action::Kind::update) return {{timeline.update_begin[update], timeline.update_end[update]}};
    const auto place = at(action.micro_batch);
    const bool forward = action.kind == Action::Kind::forward;
    const auto& pass = forward ? timeline.forward : timeline.backward;
    Turn turn{{pass.compute_begin[place], pass.compute_end[place]}};
    if (encodes_itself(pass)) turn.own_encode = {turn.compute.end_ns, pass.encoded[place]};
    if (pass.receive_end.empty()) return turn;
    const auto& sender = samples_.stages[forward ? stage - 1 : stage + 1];
    const auto& sent = forward ? sender.forward : sender.backward;
    if (!sent.codec_begin.empty()) turn.encode = {sent.codec_begin[place], sent.encoded[place]};
    turn.transfer = {sent.send_begin[place], pass.receive_end[place]};
    if (!pass.ready.empty()) turn.decode = {turn.transfer.end_ns, pass.ready[place]};
    return turn;
  }

  std::size_t last_update_of(const TrainingTimeline& stage, int step) const {
    const auto updates = stage.update_end.size() / static_cast<std::size_t>(extent_.steps);
    return static_cast<std::size_t>(step + 1) * updates - 1;
  }

 private:
  static experiment::TrainingExtent extent_of(const record::TrainingSamples& samples, const experiment::Trial& trial) {
    const int stages = static_cast<int>(samples.stages.size()), steps = trial.warmup + trial.batches;
    if (trial.data_parallel == 0) return {stages, samples.micro_batches, steps};
    return {1, samples.micro_batches / trial.data_parallel, steps, trial.data_parallel};
  }

  /// When the last replica has its gradients. The others wait until then.
  std::int64_t all_have_gradients(std::size_t reduce) const {
    std::int64_t last = samples_.stages.front().reduce_begin[reduce];
    for (const auto& stage : samples_.stages) last = std::max(last, stage.reduce_begin[reduce]);
    return last;
  }

  static std::size_t at(int micro_batch) { return static_cast<std::size_t>(micro_batch); }

  void check(const experiment::Trial& trial) const {
    const auto total = static_cast<std::size_t>(extent_.total());
    const auto has = [&](const Moments& begin, const Moments& end, bool due) {
      return begin.size() == end.size() && begin.size() == (due ? total : 0);
    };
    const auto has_coded = [](const PassTimeline& pass) {
      return (pass.ready.empty() || pass.ready.size() == pass.receive_end.size()) &&
             (pass.encoded.empty() || pass.encoded.size() == pass.send_begin.size()) &&
             (pass.codec_begin.empty() || pass.codec_begin.size() == pass.encoded.size());
    };
    const auto stages = static_cast<int>(samples_.stages.size());
    bool whole = stages >= 1 && stages == (replicas() ? extent_.replicas : extent_.stages) &&
                 samples_.micro_batches == trial.micro_batches() && extent_.micro_batches >= 1 &&
                 samples_.warmup >= 0 && samples_.warmup < extent_.steps &&
                 samples_.losses.size() == static_cast<std::size_t>(extent_.steps);
    for (int i = 0; whole && i < stages; ++i) {
      const auto& [forward, backward, reduce_begin, reduce_end, update_begin, update_end] = samples_.stages[at(i)];
      const auto updates = std::count_if(actions_[at(i)].begin(), actions_[at(i)].end(),
                                         [](const Action& action) { return action.kind == Action::Kind::update; });
      const bool first = i == 0 || replicas(), last = i + 1 == stages || replicas();
      const auto sums = replicas() ? update_begin.size() : 0;
      whole = has(forward.compute_begin, forward.compute_end, true) &&
              has(backward.compute_begin, backward.compute_end, true) &&
              has(forward.receive_begin, forward.receive_end, !first) &&
              has(backward.receive_begin, backward.receive_end, !last) &&
              has(forward.send_begin, forward.send_end, !last) && has(backward.send_begin, backward.send_end, !first) &&
              has_coded(forward) && has_coded(backward) && reduce_begin.size() == sums && reduce_end.size() == sums &&
              update_begin.size() == update_end.size() && update_end.size() == static_cast<std::size_t>(updates);
    }
    if (!whole) throw UsageError("the samples are damaged: they are not those of the trial's steps");
  }

  const record::TrainingSamples& samples_;
  experiment::TrainingExtent extent_;
  std::vector<std::vector<Action>> actions_;
};

record::Distribution distribution_of_steps(const Steps& steps, int warmup) {
  Moments times;
  for (int step = warmup; step < warmup + steps.measured(); ++step) {
    times.push_back(steps.end_of(step) - steps.begin_of(step));
  }
  return *distribution(times);
}

/// The most by which the end of a measured step may be wrong, if the clocks are off as far as they may be.
std::int64_t error_of_steps(const Steps& steps, int warmup, std::span<const record::ClockRelation> clocks) {
  std::int64_t most = 0;
  for (int step = warmup; step < warmup + steps.measured(); ++step) {
    const auto end = steps.end_of(step);
    most = std::max({most, steps.end_of(step, clocks, 1) - end, end - steps.end_of(step, clocks, -1)});
  }
  return most;
}

double record::StepParts::*part_of(Action::Kind kind) {
  switch (kind) {
    case Action::Kind::forward:
      return &record::StepParts::forward_ns;
    case Action::Kind::backward:
      return &record::StepParts::backward_ns;
    case Action::Kind::reduce:
      return &record::StepParts::all_reduce_ns;
    case Action::Kind::update:
      break;
  }
  return &record::StepParts::update_ns;
}

record::StepParts parts_of(const Steps& steps, std::size_t stage, const Window& window) {
  record::StepParts parts;
  const auto in_window = [&](const Window& part) { return static_cast<double>(part.within(window).length()); };
  std::int64_t free_since = window.begin_ns;
  std::size_t updates = 0;
  const auto& actions = steps.actions()[stage];
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const auto kind = actions[i].kind;
    const auto turn = steps.turn(stage, i, updates);
    updates += kind == Action::Kind::update;
    const Window free{free_since, turn.compute.begin_ns};
    const double encoding = in_window(free.within(turn.encode)), decoding = in_window(free.within(turn.decode));
    const double on_link = in_window(free.within(turn.transfer));
    parts.encode_ns += encoding + in_window(turn.own_encode);
    parts.transfer_ns += on_link;
    parts.decode_ns += decoding;
    parts.waiting_ns += in_window(free) - encoding - on_link - decoding;
    parts.*part_of(kind) += in_window(turn.compute);
    free_since = std::max({free_since, turn.compute.end_ns, turn.own_encode.end_ns});
  }
  parts.waiting_ns += in_window({free_since, window.end_ns});
  for (const auto part : record::kStepParts) parts.*part /= steps.measured();
  return parts;
}

double bubble_of(const std::vector<record::StepParts>& stages, bool encode_themselves) {
  double bubble = 0;
  for (const auto& stage : stages) {
    const double busy = stage.busy_ns() + (encode_themselves ? stage.encode_ns : 0);
    bubble += 1 - busy / std::max(stage.all_ns(), 1.0);
  }
  return bubble / static_cast<double>(stages.size());
}

/// When the computing thread was done with each micro-batch.
const Moments& end_of(const PassTimeline& pass) {
  return Steps::encodes_itself(pass) ? pass.encoded : pass.compute_end;
}

/// The median over all micro-batches after warm-up.
double median_length(const Moments& begin, const Moments& end, std::size_t warmup) {
  std::vector<double> lengths;
  for (std::size_t i = warmup; i < begin.size(); ++i) lengths.push_back(static_cast<double>(end[i] - begin[i]));
  return median(std::move(lengths)).value_or(0);
}

std::vector<experiment::ActionTimes> times_of(const record::TrainingSamples& samples) {
  std::vector<experiment::ActionTimes> times;
  for (const auto& stage : samples.stages) {
    const auto per_batch = stage.forward.compute_end.size() / samples.losses.size();
    const auto warmup = static_cast<std::size_t>(samples.warmup) * per_batch;
    const auto per_step = stage.update_end.size() / samples.losses.size();
    times.push_back(
        {median_length(stage.forward.compute_begin, end_of(stage.forward), warmup),
         median_length(stage.backward.compute_begin, end_of(stage.backward), warmup),
         median_length(stage.update_begin, stage.update_end, static_cast<std::size_t>(samples.warmup) * per_step)});
  }
  return times;
}

/// The samples of the same schedule if nothing took time but computing, and a stage's actions of one kind took equally
/// long.
record::TrainingSamples played(const record::TrainingSamples& samples, const Steps& steps) {
  auto result = samples;
  const auto times = times_of(samples);
  const auto planned = steps.replicas() ? experiment::play_replicas(steps.actions().front(), times)
                                        : experiment::play(steps.actions(), times);
  for (std::size_t stage = 0; stage < planned.size(); ++stage) {
    auto& timeline = result.stages[stage];
    std::size_t updates = 0;
    for (std::size_t i = 0; i < planned[stage].size(); ++i) {
      const auto& action = steps.actions()[stage][i];
      const auto begin = std::llround(planned[stage][i].begin_ns), end = std::llround(planned[stage][i].end_ns);
      if (action.kind == Action::Kind::reduce) {
        timeline.reduce_begin[updates] = timeline.reduce_end[updates] = begin;
        continue;
      }
      if (action.kind == Action::Kind::update) {
        timeline.update_begin[updates] = begin;
        timeline.update_end[updates++] = end;
        continue;
      }
      auto& pass = action.kind == Action::Kind::forward ? timeline.forward : timeline.backward;
      const auto place = static_cast<std::size_t>(action.micro_batch);
      for (const auto moment : kPassMoments) {
        if ((pass.*moment).empty()) continue;
        const bool later = moment != &PassTimeline::compute_begin;
        (pass.*moment)[place] = later ? end : begin;
      }
    }
  }
  return result;
}

std::vector<record::StepParts> parts_of_stages(const Steps& steps, std::size_t stages) {
  std::vector<record::StepParts> parts;
  for (std::size_t stage = 0; stage < stages; ++stage) parts.push_back(parts_of(steps, stage, steps.window()));
  return parts;
}

/// The last step's loss without a codec; nothing if the process without a codec did not train for as long.
std::optional<double> uncompressed_loss_of(const record::TrainingSamples& samples) {
  const auto& [first, uncompressed] = *samples.lossy;
  if (uncompressed.size() != first.size() + samples.losses.size()) return std::nullopt;
  return uncompressed.back();
}

}  // namespace

record::TrainingSummary summarise_training(const record::TrainingSamples& samples, const experiment::Trial& trial,
                                           std::span<const record::ClockRelation> clocks) {
  const Steps steps(samples, trial);
  const auto samples_per_s = [&](const Steps& of) {
    const auto length = std::max<std::int64_t>(1, of.window().length());
    return 1e9 * static_cast<double>(trial.batch) * of.measured() / static_cast<double>(length);
  };
  record::TrainingSummary summary;
  summary.step = distribution_of_steps(steps, samples.warmup);
  summary.step_error_ns = static_cast<double>(error_of_steps(steps, samples.warmup, clocks));
  summary.sample_per_s = samples_per_s(steps);
  summary.stages = parts_of_stages(steps, samples.stages.size());
  const bool encode_themselves = std::any_of(samples.stages.begin(), samples.stages.end(), [](const auto& stage) {
    return Steps::encodes_itself(stage.forward) || Steps::encodes_itself(stage.backward);
  });
  summary.bubble = bubble_of(summary.stages, encode_themselves);
  const auto ideal = played(samples, steps);
  const Steps ideal_steps(ideal, trial);
  summary.expected_bubble = bubble_of(parts_of_stages(ideal_steps, samples.stages.size()), encode_themselves);
  summary.bound_sample_per_s = samples_per_s(ideal_steps);
  summary.last_loss = samples.losses.back();
  if (samples.lossy) summary.uncompressed_loss = uncompressed_loss_of(samples);
  return summary;
}

}  // namespace paretopipe::stats
