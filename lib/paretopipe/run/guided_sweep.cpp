#include <paretopipe/core/hash.hpp>
#include <paretopipe/experiment/codecs.hpp>
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

using experiment::Cut;
using predict::Margins;

/// Two of hundreds show a profile that is wrong throughout.
constexpr std::size_t kDrawnSplits = 2;
constexpr double kCautionFactor = 1.5;
constexpr Margins kFirstMargins{kFirstMargin, kFirstMargin};

struct Speed {
  double latency_ns = 0;
  double throughput = 0;

  Speed better_by(const Margins& by) const { return {latency_ns / (1 + by.latency), throughput * (1 + by.throughput)}; }
  Speed worse_by(const Margins& by) const { return {latency_ns * (1 + by.latency), throughput / (1 + by.throughput)}; }
  bool beats(const Speed& other) const {
    return latency_ns <= other.latency_ns && throughput >= other.throughput &&
           (latency_ns < other.latency_ns || throughput > other.throughput);
  }
};

class GuidedSweep {
 public:
  GuidedSweep(const std::vector<experiment::Trial>& plan, std::vector<record::TrialRecord> known, Sweep& sweep,
              predict::Question question, const ProfileAgain& again)
      : plan_(plan), records_(std::move(known)), sweep_(sweep), question_(std::move(question)), again_(again) {
    std::set<Cut> cuts;
    for (const auto& trial : plan) cuts.insert(trial.cut());
    cuts_.assign(cuts.begin(), cuts.end());
    predict_all();
  }

  GuidedOutcome run() {
    outcome_.splits = static_cast<int>(predicted_.size());
    auto chosen = first_choice();
    while (!chosen.empty()) {
      measure(chosen);
      judge();
      chosen = outcome_.margins ? open_splits(measured_, *outcome_.margins) : std::set<Cut>();
    }
    outcome_.measured = static_cast<int>(tried_.size());
    auto silent = tried_;
    for (const auto& record : records_) {
      if (record.status == record::Status::ok) silent.erase(record.trial.cut());
    }
    outcome_.without_result = static_cast<int>(silent.size());
    return outcome_;
  }

 private:
  void predict_all() {
    const auto predictions = predict::predict_splits(question_, cuts_);
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
      predicted_[cuts_[i]] = {predictions[i].latency_ns.value, predictions[i].throughput_image_per_s.value};
    }
  }

  std::set<Cut> first_choice() {
    std::vector<Speed> others;
    for (const auto& [split, speed] : predicted_) others.push_back(speed.worse_by(kFirstMargins));
    auto chosen = open_splits(others, kFirstMargins);
    std::vector<Cut> rest;
    for (const auto& [split, speed] : predicted_) {
      if (!chosen.contains(split)) rest.push_back(split);
    }
    std::mt19937_64 random(plan_.front().seed);
    for (std::size_t i = 0; (i < kDrawnSplits || chosen.size() < predict::kFewestFitted) && !rest.empty(); ++i) {
      const auto drawn = rest.begin() + static_cast<std::ptrdiff_t>(draw_below(random, rest.size()));
      chosen.insert(*drawn);
      rest.erase(drawn);
      ++outcome_.drawn;
    }
    return chosen;
  }

  /// Those that were not tried, and that none of these would beat if their own predictions were too bad by the margins.
  std::set<Cut> open_splits(const std::vector<Speed>& others, const Margins& margins) const {
    std::set<Cut> open;
    for (const auto& [split, speed] : predicted_) {
      const auto best = speed.better_by(margins);
      const bool beaten =
          std::any_of(others.begin(), others.end(), [&](const auto& other) { return other.beats(best); });
      if (!beaten && !tried_.contains(split)) open.insert(split);
    }
    return open;
  }

  void measure(const std::set<Cut>& chosen) {
    for (const auto& trial : remaining_trials(plan_, records_)) {
      if (chosen.contains(trial.cut())) records_.push_back(sweep_.run(trial));
    }
    tried_.insert(chosen.begin(), chosen.end());
  }

  /// Holds the predictions against what was measured so far, and makes them anew with what that shows.
  void judge() {
    const auto ok = [](const auto& record) { return record.status == record::Status::ok; };
    if (std::none_of(records_.begin(), records_.end(), ok)) return;
    question_.corrections = {};
    auto verification = predict::verify(question_, records_);
    if (verification.median_error > kWrongProfile && again_ && !outcome_.remade) {
      outcome_.remade = {question_.profiles.front().made_at, verification.median_error};
      question_.profiles = again_();
      verification = predict::verify(question_, records_);
    }
    const double caution = kCautionFactor * verification.worst_error;
    Margins margins{caution, caution};
    if (verification.splits.size() >= predict::kFewestFitted) {
      question_.corrections = predict::fit(question_, records_);
      verification = predict::verify(question_, records_);
      margins = predict::margins_of(verification.splits);
    }
    predict_all();
    outcome_.corrections = question_.corrections;
    outcome_.median_error = verification.median_error;
    outcome_.worst_error = verification.worst_error;
    outcome_.margins = {std::max(kLeastMargin, margins.latency), std::max(kLeastMargin, margins.throughput)};
    measured_.clear();
    for (const auto& split : verification.splits) {
      measured_.push_back({split.latency_ns, split.throughput_image_per_s});
    }
  }

  const std::vector<experiment::Trial>& plan_;
  std::vector<record::TrialRecord> records_;
  Sweep& sweep_;
  predict::Question question_;
  const ProfileAgain& again_;
  std::vector<Cut> cuts_;  ///< of the plan
  std::map<Cut, Speed> predicted_;
  std::vector<Speed> measured_;
  std::set<Cut> tried_;
  GuidedOutcome outcome_;
};

}  // namespace

void check_guided_plan(const std::vector<experiment::Trial>& plan) {
  const auto& first = plan.at(0);
  for (auto trial : plan) {
    trial.split_points = first.split_points;
    const auto codec = std::exchange(trial.codec, first.codec);
    trial.repetition = first.repetition;
    if (trial == first && trial.data_parallel == 0 && !trial.server && trial.micro_batches() == 1 &&
        trial.phases == experiment::Phases::both && experiment::codec_count(codec) == 1) {
      continue;
    }
    throw UsageError(
        "--guided and --partitions best measure splits of one model under one set of conditions, in both phases: leave "
        "out baselines, rates, micro-batches, codecs of each cut, and lists of networks, batches, depths or threads");
  }
}

predict::Question guiding_question(std::vector<predict::Profile> profiles, const std::vector<experiment::Trial>& plan) {
  check_guided_plan(plan);
  const auto& first = plan.front();
  auto question = predict::question_about(std::move(profiles), first);
  for (const auto& trial : plan) {
    if (std::find(question.codecs.begin(), question.codecs.end(), trial.codec) != question.codecs.end()) continue;
    throw UsageError(
        fmt::format("--guided: the profile was made without the codec {}; make it again with `paretopipe profile "
                    "--codec {}`",
                    trial.codec, trial.codec));
  }
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
                               Sweep& sweep, predict::Question question, const ProfileAgain& again) {
  return GuidedSweep(plan, std::move(known), sweep, std::move(question), again).run();
}

}  // namespace paretopipe::run
