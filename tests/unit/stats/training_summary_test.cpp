#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/schedule.hpp>

#include <cmath>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kTransfer = 2 * kMillisecond;

Trial a_trial(Schedule schedule, int micro_batches, int steps, int stages) {
  Trial trial;
  trial.phases = Phases::training;
  trial.training = Training{.schedule = schedule};
  trial.block_count = stages;
  for (int cut = 1; cut < stages; ++cut) trial.split_points.push_back(cut);
  trial.batch = 4 * micro_batches;
  trial.micro_batch = micro_batches == 1 ? 0 : 4;
  trial.warmup = 1;
  trial.batches = steps;
  return trial;
}

/// What stages would measure that compute 10 ms forward, 20 ms backward and 5 ms for an update, if tensors took
/// `kTransfer` and nobody waited for them longer than the schedule says: the moments of the schedule as it is played.
record::TrainingSamples samples_of(const Trial& trial) {
  const TrainingExtent extent{trial.stage_count(), trial.micro_batches(), trial.warmup + trial.batches};
  std::vector<std::vector<Action>> actions;
  for (int stage = 0; stage < extent.stages; ++stage) {
    actions.push_back(actions_of(trial.training->schedule, extent, stage));
  }
  const double ms = kMillisecond;
  const std::vector<ActionTimes> times(actions.size(), {10 * ms, 20 * ms, 5 * ms});
  const auto planned = play(actions, times);
  record::TrainingSamples samples{trial.warmup, extent.micro_batches, {}, {}, 2};
  samples.stages.resize(actions.size());
  samples.losses.assign(static_cast<std::size_t>(extent.steps), 0.5);
  const auto total = static_cast<std::size_t>(extent.total());
  for (std::size_t stage = 0; stage < actions.size(); ++stage) {
    auto& timeline = samples.stages[stage];
    const bool first = stage == 0, last = stage + 1 == actions.size();
    const auto shape = [&](PassTimeline& pass, bool receives, bool sends) {
      for (const auto moment : kPassMoments) (pass.*moment).resize(total);
      pass.ready = pass.codec_begin = pass.encoded = {};
      if (!receives) pass.receive_begin = pass.receive_end = {};
      if (!sends) pass.send_begin = pass.send_end = {};
    };
    shape(timeline.forward, !first, !last);
    shape(timeline.backward, !last, !first);
    for (std::size_t i = 0; i < actions[stage].size(); ++i) {
      const auto& action = actions[stage][i];
      const auto begin = std::llround(planned[stage][i].begin_ns), end = std::llround(planned[stage][i].end_ns);
      if (action.kind == Action::Kind::update) {
        timeline.update_begin.push_back(begin);
        timeline.update_end.push_back(end);
        continue;
      }
      auto& pass = action.kind == Action::Kind::forward ? timeline.forward : timeline.backward;
      const auto place = static_cast<std::size_t>(action.micro_batch);
      pass.compute_begin[place] = begin;
      pass.compute_end[place] = end;
      if (!pass.send_begin.empty()) pass.send_begin[place] = pass.send_end[place] = end;
    }
  }
  for (std::size_t stage = 0; stage < actions.size(); ++stage) {
    auto& timeline = samples.stages[stage];
    if (stage > 0) {
      timeline.forward.receive_begin = timeline.forward.receive_end = samples.stages[stage - 1].forward.send_end;
    }
    if (stage + 1 < actions.size()) {
      timeline.backward.receive_begin = timeline.backward.receive_end = samples.stages[stage + 1].backward.send_end;
    }
  }
  return samples;
}

double sum(const record::StepParts& parts) {
  double sum = 0;
  for (const auto part : record::kStepParts) sum += parts.*part;
  return sum;
}

/// Two replicas, of which the second takes 2 ms longer backward, if adding up takes 7 ms.
record::TrainingSamples samples_of_replicas(const Trial& trial) {
  constexpr std::int64_t kSum = 7 * kMillisecond;
  const int each = trial.micro_batches() / 2, steps = trial.warmup + trial.batches;
  record::TrainingSamples samples{trial.warmup, trial.micro_batches(), {}, {}, 2};
  samples.stages.resize(2);
  samples.losses.assign(static_cast<std::size_t>(steps), 0.5);
  std::int64_t now[] = {0, 0};
  for (int step = 0; step < steps; ++step) {
    for (std::size_t replica = 0; replica < 2; ++replica) {
      auto& timeline = samples.stages[replica];
      const auto compute = [&](PassTimeline& pass, std::int64_t takes) {
        for (int i = 0; i < each; ++i) {
          pass.compute_begin.push_back(now[replica]);
          pass.compute_end.push_back(now[replica] += takes);
        }
      };
      compute(timeline.forward, 10 * kMillisecond);
      compute(timeline.backward, (replica == 0 ? 20 : 22) * kMillisecond);
      timeline.reduce_begin.push_back(now[replica]);
    }
    const auto summed = std::max(now[0], now[1]) + kSum;
    for (std::size_t replica = 0; replica < 2; ++replica) {
      auto& timeline = samples.stages[replica];
      timeline.reduce_end.push_back(summed);
      timeline.update_begin.push_back(summed);
      timeline.update_end.push_back(now[replica] = summed + 5 * kMillisecond);
    }
  }
  return samples;
}

Trial a_trial_of_replicas() {
  auto trial = a_trial(Schedule::gpipe, 6, 4, 1);
  trial.split_points.clear();
  trial.data_parallel = 2;
  return trial;
}

}  // namespace

TEST_CASE("a step of equal stages takes the time of the formula, and its parts add up to it") {
  const auto schedule = GENERATE(Schedule::gpipe, Schedule::one_f_one_b);
  const auto trial = a_trial(schedule, 6, 5, 3);
  const auto summary = stats::summarise_training(samples_of(trial), trial);
  const double step_ms = 30 * (6 + 3 - 1) + 5;
  CHECK(summary.step.count == 5);
  CHECK(summary.step.p50_ns == Approx(step_ms * kMillisecond));
  CHECK(summary.sample_per_s == Approx(24 / (step_ms / 1000)));
  for (const auto& stage : summary.stages) {
    CHECK(stage.forward_ns == Approx(60 * kMillisecond));
    CHECK(stage.backward_ns == Approx(120 * kMillisecond));
    CHECK(stage.update_ns == Approx(5 * kMillisecond));
    CHECK(sum(stage) == Approx(step_ms * kMillisecond));
  }
  CHECK(summary.bubble == Approx(1 - 185 / step_ms));
  CHECK(summary.expected_bubble == Approx(summary.bubble).epsilon(1e-6));
  CHECK(summary.bound_sample_per_s == Approx(summary.sample_per_s).epsilon(1e-6));
  CHECK(summary.last_loss == 0.5);
}

TEST_CASE("time in which a stage is free and its next tensor is on the link is the transfer's") {
  const auto trial = a_trial(Schedule::gpipe, 1, 3, 2);
  auto samples = samples_of(trial);
  const auto before = stats::summarise_training(samples, trial);
  // The last stage's inputs leave stage 0 that much earlier than they arrive, and were awaited all the time.
  for (auto& sent : samples.stages[0].forward.send_begin) sent -= kTransfer;
  const auto after = stats::summarise_training(samples, trial);
  CHECK(before.stages[1].transfer_ns == 0);
  CHECK(after.stages[1].transfer_ns == Approx(kTransfer));
  CHECK(after.stages[1].waiting_ns == Approx(before.stages[1].waiting_ns - kTransfer));
  CHECK(after.bubble == Approx(before.bubble));
  CHECK(after.bound_sample_per_s == Approx(before.bound_sample_per_s));
}

TEST_CASE(
    "encoding and decoding are parts of the time in which the stage that needs the tensor is free, and all add up") {
  const auto trial = a_trial(Schedule::gpipe, 1, 3, 2);
  auto samples = samples_of(trial);
  const auto before = stats::summarise_training(samples, trial);
  auto& sender = samples.stages[0].forward;
  auto& receiver = samples.stages[1].forward;
  receiver.ready = receiver.receive_end;
  for (auto& sent : sender.send_begin) sent -= kTransfer;
  for (auto& received : receiver.receive_end) received -= kMillisecond;
  sender.codec_begin = sender.encoded = sender.send_begin;
  for (auto& begun : sender.codec_begin) begun -= 3 * kMillisecond;
  const auto after = stats::summarise_training(samples, trial);
  CHECK(after.stages[0].encode_ns == 0);
  CHECK(after.stages[1].encode_ns == Approx(3 * kMillisecond));
  CHECK(after.stages[1].decode_ns == Approx(kMillisecond));
  CHECK(after.stages[1].transfer_ns == Approx(kTransfer - kMillisecond));
  CHECK(after.stages[1].waiting_ns == Approx(before.stages[1].waiting_ns - kTransfer - 3 * kMillisecond));
  for (std::size_t stage = 0; stage < 2; ++stage) CHECK(sum(after.stages[stage]) == Approx(sum(before.stages[stage])));
  CHECK(after.bubble == Approx(before.bubble));
  CHECK(after.bound_sample_per_s == Approx(before.bound_sample_per_s));
  const nlohmann::json written = after;
  CHECK(written.get<record::TrainingSummary>() == after);
  CHECK_FALSE(nlohmann::json(before).dump().find("encode") != std::string::npos);  // as before there were codecs
}

TEST_CASE("with a lossy codec the last loss stands beside that without it, unless that was not computed as far") {
  const auto trial = a_trial(Schedule::gpipe, 1, 3, 2);
  auto samples = samples_of(trial);
  samples.lossy = record::LossyTraining{{2, 1}, {2, 1, 0.5, 0.5, 0.5, 0.25}};
  CHECK(stats::summarise_training(samples, trial).uncompressed_loss == 0.25);
  CHECK(nlohmann::json(samples).get<record::TrainingSamples>() == samples);
  samples.lossy->uncompressed_losses.pop_back();
  CHECK_FALSE(stats::summarise_training(samples, trial).uncompressed_loss.has_value());
}

TEST_CASE("without a flush steps overlap, and the rate is that of the slowest stage") {
  const auto trial = a_trial(Schedule::pipedream, 1, 20, 2);
  const auto summary = stats::summarise_training(samples_of(trial), trial);
  CHECK(summary.sample_per_s == Approx(4 / 0.035).epsilon(0.01));
  CHECK(summary.step.p50_ns > 35 * kMillisecond);  // from its own first forward to its own last update
  CHECK(summary.bubble < 0.05);
}

TEST_CASE(
    "replicas wait for the last one's gradients, adding up is a part of its own, and all parts add up to the step") {
  const auto trial = a_trial_of_replicas();
  const auto summary = stats::summarise_training(samples_of_replicas(trial), trial);
  const double step = 3 * 32 + 7 + 5;
  CHECK(summary.step.p50_ns == Approx(step * kMillisecond));
  CHECK(summary.sample_per_s == Approx(24 / (step / 1000)));
  for (const auto& replica : summary.stages) {
    CHECK(replica.all_reduce_ns == Approx(7 * kMillisecond));
    CHECK(replica.update_ns == Approx(5 * kMillisecond));
    CHECK(replica.transfer_ns == 0);
    CHECK(sum(replica) == Approx(step * kMillisecond));
  }
  CHECK(summary.stages[0].waiting_ns == Approx(6 * kMillisecond));
  CHECK(summary.stages[1].waiting_ns == Approx(0).margin(1));
  CHECK(summary.bubble == Approx((13 + 7) / 2.0 / step));
  // If adding up took no time, the first would still wait for the second.
  CHECK(summary.bound_sample_per_s == Approx(24 / ((step - 7) / 1000)).epsilon(1e-6));
  CHECK(summary.expected_bubble == Approx(3 / (step - 7)).epsilon(1e-6));
  CHECK(nlohmann::json(summary).get<record::TrainingSummary>() == summary);
  CHECK(nlohmann::json(samples_of_replicas(trial)).get<record::TrainingSamples>() == samples_of_replicas(trial));
  auto damaged = samples_of_replicas(trial);
  damaged.stages[1].reduce_end.pop_back();
  CHECK_THROWS_AS(stats::summarise_training(damaged, trial), UsageError);
}

TEST_CASE("a step that may end on another clock may be wrong by as much as that clock, and no more") {
  const auto trial = a_trial(Schedule::gpipe, 6, 5, 2);
  auto samples = samples_of(trial);
  std::vector<record::ClockRelation> clocks(2);
  clocks[1].same_clock = false;
  clocks[1].error_bound_ns = 3 * kMillisecond;
  // The last stage's update ends 20 ms before stage 0's, whose end no other clock can move.
  CHECK(stats::summarise_training(samples, trial, clocks).step_error_ns == 0);
  clocks[1].error_bound_ns = 22 * kMillisecond;
  CHECK(stats::summarise_training(samples, trial, clocks).step_error_ns == Approx(2 * kMillisecond));
  for (auto& end : samples.stages[1].update_end) end += 30 * kMillisecond;  // now it is last, by 10 ms
  CHECK(stats::summarise_training(samples, trial, clocks).step_error_ns == Approx(22 * kMillisecond));
  CHECK(stats::summarise_training(samples, trial).step_error_ns == 0);
}

TEST_CASE("in records of older releases the computing thread encoded, and their numbers are what they were") {
  const auto trial = a_trial(Schedule::gpipe, 1, 3, 2);
  auto samples = samples_of(trial);
  const auto before = stats::summarise_training(samples, trial);
  auto& sender = samples.stages[0].forward;
  sender.encoded = sender.compute_end;
  for (auto& computed : sender.compute_end) computed -= 3 * kMillisecond;
  const auto after = stats::summarise_training(samples, trial);
  CHECK(after.stages[0].encode_ns == Approx(3 * kMillisecond));
  CHECK(after.stages[0].forward_ns == Approx(before.stages[0].forward_ns - 3 * kMillisecond));
  for (std::size_t stage = 0; stage < 2; ++stage) CHECK(sum(after.stages[stage]) == Approx(sum(before.stages[stage])));
  CHECK(after.bubble == Approx(before.bubble));
  CHECK(after.expected_bubble == Approx(before.expected_bubble));
  CHECK(after.bound_sample_per_s == Approx(before.bound_sample_per_s));
}

TEST_CASE("samples that are not those of the trial's steps are refused") {
  const auto trial = a_trial(Schedule::gpipe, 2, 3, 2);
  const auto damaged = [&](auto change) {
    auto samples = samples_of(trial);
    change(samples);
    CHECK_THROWS_AS(stats::summarise_training(samples, trial), UsageError);
  };
  damaged([](auto& samples) { samples.losses.pop_back(); });
  damaged([](auto& samples) { samples.stages[1].update_end.pop_back(); });
  damaged([](auto& samples) { samples.stages[0].forward.send_end.clear(); });
  damaged([](auto& samples) { samples.warmup = 4; });
  damaged([](auto& samples) { samples.stages[0].forward.encoded.push_back(1); });
  damaged([](auto& samples) {
    samples.stages[0].forward.encoded = samples.stages[0].forward.send_begin;
    samples.stages[0].forward.codec_begin = {1};
  });
  damaged([](auto& samples) { samples.stages[0].forward.ready.push_back(1); });
  damaged([](auto& samples) { samples.stages.clear(); });
}
