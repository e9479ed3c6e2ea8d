#include <paretopipe/core/hash.hpp>
#include <paretopipe/experiment/codecs.hpp>
#include <paretopipe/experiment/scenario.hpp>
#include <paretopipe/run/guided_sweep.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <limits>
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
constexpr int kDrawnSplits = 2;
constexpr double kCautionFactor = 1.5;

struct Speed {
  double latency_ns = 0;
  double throughput = 0;

  Speed better_by(const Margins& by) const { return {latency_ns / (1 + by.latency), throughput * (1 + by.throughput)}; }

  /// How many times worse the other one is, in the number in which that is more. Less than 1 if it is better in both.
  double ahead_of(const Speed& other) const {
    return std::max(other.latency_ns / latency_ns, throughput / other.throughput);
  }
};

using Speeds = std::map<Cut, Speed>;

class GuidedSweep {
 public:
  GuidedSweep(const std::vector<experiment::Trial>& plan, std::vector<record::TrialRecord> known, Sweep& sweep,
              Guidance guidance)
      : records_(std::move(known)), sweep_(sweep), guidance_(std::move(guidance)), seed_(plan.front().seed) {
    std::set<std::string> planned;
    for (const auto& trial : plan) {
      left_[trial.cut()];
      planned.insert(trial.configuration_id());
      if (trial.all_local()) whole_ = trial.cut();
    }
    // The folder may have the same cuts from a sweep with other settings.
    std::erase_if(records_, [&](const auto& record) { return !planned.contains(record.trial.configuration_id()); });
    for (const auto& trial : remaining_trials(plan, records_)) left_[trial.cut()].push_back(trial);
    for (const auto& [cut, trials] : left_) cuts_.push_back(cut);
    for (const auto& record : records_) ++tried_[record.trial.cut()];
    predict_all();
  }

  GuidedOutcome run() {
    for (const auto& cut : first_choice()) {
      if (!tried_.contains(cut)) measure(cut);
    }
    judge();
    for (auto next = next_choice(); next; next = next_choice()) {
      measure(*next);
      judge();
    }
    outcome_.within = guidance_.within;
    outcome_.splits = static_cast<int>(cuts_.size());
    outcome_.measured = static_cast<int>(tried_.size());
    for (const auto& [cut, count] : tried_) {
      const bool silent = !measured_.contains(cut);
      outcome_.without_result += silent ? 1 : 0;
      outcome_.cut_short += !silent && !left_.at(cut).empty() ? 1 : 0;
    }
    return outcome_;
  }

 private:
  void predict_all() {
    const auto predictions = predict::predict_splits(guidance_.question, cuts_);
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
      predicted_[cuts_[i]] = {predictions[i].latency_ns.value, predictions[i].throughput_image_per_s.value};
    }
  }

  std::set<Cut> first_choice() {
    std::set<Cut> chosen;
    for (const auto& [cut, speed] : cover_of(predicted_, predicted_of(whole_))) chosen.insert(cut);
    std::vector<Cut> rest;
    std::set_difference(cuts_.begin(), cuts_.end(), chosen.begin(), chosen.end(), std::back_inserter(rest));
    std::mt19937_64 random(seed_);
    while ((outcome_.drawn < kDrawnSplits || chosen.size() < predict::kFewestFitted) && !rest.empty()) {
      const auto drawn = rest.begin() + static_cast<std::ptrdiff_t>(draw_below(random, rest.size()));
      chosen.insert(*drawn);
      rest.erase(drawn);
      ++outcome_.drawn;
    }
    return chosen;
  }

  /// What to measure next. As long as nothing has a result, that is a split of the first choice again.
  std::optional<Cut> next_choice() const {
    if (outcome_.margins) {
      auto open = predicted_;
      std::erase_if(open, [this](const auto& split) { return left_.at(split.first).empty(); });
      const auto next = furthest_ahead(open, measured_, *outcome_.margins);
      return next ? next : least_repeated();
    }
    const auto has_trials = [this](const auto& tried) { return !left_.at(tried.first).empty(); };
    const auto found = std::find_if(tried_.begin(), tried_.end(), has_trials);
    return found == tried_.end() ? std::nullopt : std::optional(found->first);
  }

  /// The split, not among `known`, that would be furthest ahead of all of these if its speed were better by the
  /// margins. If `known` is empty, the one with the lowest latency. None if none would be ahead by more than a near
  /// tie.
  std::optional<Cut> furthest_ahead(const Speeds& speeds, const Speeds& known, const Margins& margins) const {
    std::optional<Cut> best;
    std::array<double, 3> best_merit{1 + guidance_.within, 0, 0};
    for (const auto& [cut, speed] : speeds) {
      if (known.contains(cut)) continue;
      const auto corner = speed.better_by(margins);
      double ahead = std::numeric_limits<double>::infinity();
      for (const auto& [other, its] : known) ahead = std::min(ahead, corner.ahead_of(its));
      const std::array merit{ahead, 1 / corner.latency_ns, corner.throughput};
      if (ahead <= 1 + guidance_.within || merit <= best_merit) continue;
      best = cut;
      best_merit = merit;
    }
    return best;
  }

  Speeds predicted_of(const std::optional<Cut>& cut) const {
    return cut ? Speeds{{*cut, predicted_.at(*cut)}} : Speeds{};
  }

  /// A few splits, chosen greedily, with those of `cover` among them, such that every other split is ahead of one of
  /// them by no more than a near tie.
  Speeds cover_of(const Speeds& speeds, Speeds cover = {}) const {
    while (const auto next = furthest_ahead(speeds, cover, {})) cover.emplace(*next, speeds.at(*next));
    return cover;
  }

  /// Of the splits that cover what was measured and have repetitions left, the one with the fewest so far.
  std::optional<Cut> least_repeated() const {
    std::optional<Cut> least;
    for (const auto& [cut, speed] : cover_of(measured_)) {
      if (!left_.at(cut).empty() && (!least || tried_.at(cut) < tried_.at(*least))) least = cut;
    }
    return least;
  }

  void measure(const Cut& cut) {
    auto& left = left_.at(cut);
    ++tried_[cut];
    records_.push_back(sweep_.run(left.front()));
    left.pop_front();
  }

  /// Compares the predictions with what was measured so far, and predicts anew with what that shows.
  void judge() {
    const auto ok = [](const auto& record) { return record.status == record::Status::ok; };
    if (std::none_of(records_.begin(), records_.end(), ok)) return;
    auto& question = guidance_.question;
    question.corrections = {};
    auto verification = predict::verify(question, records_);
    if (verification.median_error > kWrongProfile && guidance_.again && !outcome_.remade) {
      outcome_.remade = {question.profiles.front().made_at, verification.median_error};
      question.profiles = guidance_.again();
      verification = predict::verify(question, records_);
    }
    const double caution = kCautionFactor * verification.worst_error;
    Margins margins{caution, caution};
    if (verification.splits.size() >= predict::kFewestFitted) {
      question.corrections = predict::fit(question, records_);
      verification = predict::verify(question, records_);
      margins = predict::margins_of(verification.splits);
    }
    predict_all();
    outcome_.corrections = question.corrections;
    outcome_.median_error = verification.median_error;
    outcome_.worst_error = verification.worst_error;
    outcome_.margins = {std::max(kLeastMargin, margins.latency), std::max(kLeastMargin, margins.throughput)};
    measured_.clear();
    for (const auto& split : verification.splits) {
      measured_[split.cut] = {split.latency_ns, split.throughput_image_per_s};
    }
  }

  std::vector<record::TrialRecord> records_;
  Sweep& sweep_;
  Guidance guidance_;
  std::uint64_t seed_;
  std::vector<Cut> cuts_;                              ///< of the plan, in order
  std::optional<Cut> whole_;                           ///< the one that does not split, if the plan has it
  std::map<Cut, std::deque<experiment::Trial>> left_;  ///< what was not run yet
  std::map<Cut, int> tried_;                           ///< how often
  Speeds predicted_;
  Speeds measured_;
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
                               Sweep& sweep, Guidance guidance) {
  return GuidedSweep(plan, std::move(known), sweep, std::move(guidance)).run();
}

}  // namespace paretopipe::run
