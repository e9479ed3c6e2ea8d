#include <paretopipe/analysis/predict/verification.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/experiment/partition.hpp>
#include <paretopipe/experiment/scenario.hpp>
#include <paretopipe/run/guided_sweep.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

using experiment::SplitPoints;

/// Two of hundreds show a profile that is wrong throughout.
constexpr std::size_t kDrawnSplits = 2;
constexpr double kCautionFactor = 1.5;

struct Speed {
  double latency_ns = 0;
  double throughput = 0;

  Speed better_by(double margin) const { return {latency_ns / (1 + margin), throughput * (1 + margin)}; }
  Speed worse_by(double margin) const { return {latency_ns * (1 + margin), throughput / (1 + margin)}; }
  bool beats(const Speed& other) const {
    return latency_ns <= other.latency_ns && throughput >= other.throughput &&
           (latency_ns < other.latency_ns || throughput > other.throughput);
  }
};

class GuidedSweep {
 public:
  GuidedSweep(const std::vector<experiment::Trial>& plan, std::vector<record::TrialRecord> known, Sweep& sweep,
              const predict::Question& question)
      : plan_(plan), records_(std::move(known)), sweep_(sweep), question_(question) {
    std::set<SplitPoints> splits;
    for (const auto& trial : plan) splits.insert(trial.split_points);
    const std::vector<SplitPoints> ordered(splits.begin(), splits.end());
    const auto predictions = predict::predict_splits(question, ordered);
    for (std::size_t i = 0; i < ordered.size(); ++i) {
      predicted_[ordered[i]] = {predictions[i].latency_ns.value, predictions[i].throughput_image_per_s.value};
    }
  }

  GuidedOutcome run() {
    GuidedOutcome outcome;
    outcome.splits = static_cast<int>(predicted_.size());
    auto chosen = first_choice();
    while (!chosen.empty()) {
      measure(chosen);
      const auto measured = judge(outcome);
      chosen = outcome.margin ? open_splits(measured, *outcome.margin) : std::set<SplitPoints>();
    }
    outcome.measured = static_cast<int>(tried_.size());
    auto silent = tried_;
    for (const auto& record : records_) {
      if (record.status == record::Status::ok) silent.erase(record.trial.split_points);
    }
    outcome.without_result = static_cast<int>(silent.size());
    return outcome;
  }

 private:
  std::set<SplitPoints> first_choice() {
    std::vector<Speed> others;
    for (const auto& [split, speed] : predicted_) others.push_back(speed.worse_by(kLeastMargin));
    auto chosen = open_splits(others, kLeastMargin);
    std::vector<SplitPoints> rest;
    for (const auto& [split, speed] : predicted_) {
      if (!chosen.contains(split)) rest.push_back(split);
    }
    std::mt19937_64 random(plan_.front().seed);
    for (std::size_t i = 0; i < kDrawnSplits && !rest.empty(); ++i) {
      const auto drawn = rest.begin() + static_cast<std::ptrdiff_t>(draw_below(random, rest.size()));
      chosen.insert(*drawn);
      rest.erase(drawn);
    }
    return chosen;
  }

  /// Those that were not tried, and that none of these would beat if their own prediction were too bad by the margin.
  std::set<SplitPoints> open_splits(const std::vector<Speed>& others, double margin) const {
    std::set<SplitPoints> open;
    for (const auto& [split, speed] : predicted_) {
      const auto best = speed.better_by(margin);
      const bool beaten =
          std::any_of(others.begin(), others.end(), [&](const auto& other) { return other.beats(best); });
      if (!beaten && !tried_.contains(split)) open.insert(split);
    }
    return open;
  }

  void measure(const std::set<SplitPoints>& chosen) {
    for (const auto& trial : remaining_trials(plan_, records_)) {
      if (chosen.contains(trial.split_points)) records_.push_back(sweep_.run(trial));
    }
    tried_.insert(chosen.begin(), chosen.end());
  }

  /// The speeds of what was measured. Widens the margin if predictions were worse than it allows for.
  std::vector<Speed> judge(GuidedOutcome& outcome) const {
    const auto ok = [](const auto& record) { return record.status == record::Status::ok; };
    if (std::none_of(records_.begin(), records_.end(), ok)) return {};
    const auto verification = predict::verify(question_, records_);
    outcome.median_error = verification.median_error;
    outcome.worst_error = verification.worst_error;
    outcome.margin = std::max(outcome.margin.value_or(kLeastMargin), kCautionFactor * verification.worst_error);
    std::vector<Speed> speeds;
    for (const auto& split : verification.splits) speeds.push_back({split.latency_ns, split.throughput_image_per_s});
    return speeds;
  }

  const std::vector<experiment::Trial>& plan_;
  std::vector<record::TrialRecord> records_;
  Sweep& sweep_;
  const predict::Question& question_;
  std::map<SplitPoints, Speed> predicted_;
  std::set<SplitPoints> tried_;
};

}  // namespace

predict::Question guiding_question(std::vector<predict::Profile> profiles, const std::vector<experiment::Trial>& plan) {
  const auto& first = plan.at(0);
  for (auto trial : plan) {
    trial.split_points = first.split_points;
    trial.repetition = first.repetition;
    if (trial == first && trial.data_parallel == 0 && !trial.server && trial.micro_batches() == 1 &&
        trial.phases == experiment::Phases::both) {
      continue;
    }
    throw UsageError(
        "--guided measures splits of one model under one set of conditions, in both phases: leave out baselines, "
        "rates, "
        "micro-batches, and lists of networks, batches, depths or threads");
  }
  predict::Question question{.profiles = std::move(profiles)};
  question.stages = first.stage_count();
  question.depth = first.depth;
  question.shaping = first.shaping;
  if (first.network.shaped()) question.network = first.network;
  const auto& profile = question.profiles.at(0);
  if (profile.model.model == first.model && profile.model.archive == first.archive &&
      profile.model.batch == first.batch && profile.model.block_count() == first.block_count &&
      profile.mode == first.compute) {
    return question;
  }
  throw UsageError(
      fmt::format("--guided: the profile is of {} at batch {} with {} blocks, and the sweep of {} at batch {} with {} "
                  "blocks, or in "
                  "another mode; profile with the flags of the sweep",
                  profile.model.model, profile.model.batch, profile.model.block_count(), first.model, first.batch,
                  first.block_count));
}

GuidedOutcome run_guided_sweep(const std::vector<experiment::Trial>& plan, std::vector<record::TrialRecord> known,
                               Sweep& sweep, const predict::Question& question) {
  return GuidedSweep(plan, std::move(known), sweep, question).run();
}

}  // namespace paretopipe::run
