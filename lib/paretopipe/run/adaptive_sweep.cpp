#include <paretopipe/analysis/stats/bootstrap.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/record/metric.hpp>
#include <paretopipe/run/adaptive_sweep.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace paretopipe::run {

namespace {

/// The objectives that splits are judged by: a frontier's defaults.
using Objectives = std::array<const record::Metric*, 2>;

/// A split's repetitions, with one number per objective, and the resampled medians.
struct Split {
  std::array<std::vector<double>, 2> values;
  std::vector<std::vector<double>> resampled;  ///< [objective][resample]

  std::size_t repetitions() const { return values.front().size(); }
};

using Splits = std::map<experiment::Cut, Split>;

Splits splits_of(std::span<const record::TrialRecord> group, const Objectives& objectives) {
  Splits splits;
  for (const auto& record : group) {
    if (record.status != record::Status::ok) continue;
    auto& split = splits[record.trial.cut()];
    for (std::size_t i = 0; i < objectives.size(); ++i) {
      split.values[i].push_back(objectives[i]->value(record).value());
    }
  }
  return splits;
}

void resample(Splits& splits, std::uint64_t seed) {
  for (auto& [points, split] : splits) split.resampled = stats::resampled_medians(split.values, seed++);
}

bool narrow(const Split& split, std::size_t objective, double precision) {
  const auto interval = stats::percentile_interval(split.resampled[objective]);
  return (interval.high - interval.low) / 2 <= precision * *stats::median(split.values[objective]);
}

/// A baseline that is no split is measured until it is settled, and beats nothing.
bool is_split(const experiment::Cut& cut) {
  return !cut.split_points.empty();
}

/// True if, in resample `b`, the other split is at least as good as `own` after improving `own` by `precision` in
/// measured objectives. Known values, such as the payload, are not improved.
bool beats(const Split& other, const Split& own, const Objectives& objectives, std::size_t b, double precision) {
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    const double bonus = objectives[i]->measured_in == record::MeasuredIn::any_phase ? 1 : 1 + precision;
    const double theirs = other.resampled[i][b], ours = own.resampled[i][b];
    const bool better =
        objectives[i]->better == record::Direction::min ? theirs <= ours / bonus : theirs >= ours * bonus;
    if (!better) return false;
  }
  return true;
}

/// True if nothing beats the split in resample `b`.
bool could_be_on_frontier(const Splits& splits, const Split& own, const Objectives& objectives, std::size_t b,
                          double precision) {
  return std::none_of(splits.begin(), splits.end(), [&](const auto& entry) {
    const auto& other = entry.second;
    return &other != &own && is_split(entry.first) && other.repetitions() >= kLeastToDrop &&
           beats(other, own, objectives, b, precision);
  });
}

bool dominated(const Splits& splits, const Split& split, const Objectives& objectives, double precision) {
  for (std::size_t b = 0; b < split.resampled.front().size(); ++b) {
    if (could_be_on_frontier(splits, split, objectives, b, precision)) return false;
  }
  return true;
}

}  // namespace

Verdicts judge_round(std::span<const record::TrialRecord> group, double precision, std::uint64_t seed) {
  if (group.empty()) return {};
  const auto objectives = record::usual_objectives(group.front().trial.phases);
  auto splits = splits_of(group, objectives);
  resample(splits, seed);
  Verdicts verdicts;
  for (const auto& [points, split] : splits) {
    auto& verdict = verdicts[points] = Verdict::open;
    if (is_split(points) && split.repetitions() >= kLeastToDrop && dominated(splits, split, objectives, precision)) {
      verdict = Verdict::dominated;
    } else if (split.repetitions() >= kLeastToSettle && narrow(split, 0, precision) && narrow(split, 1, precision)) {
      verdict = Verdict::settled;
    }
  }
  return verdicts;
}

namespace {

using Trials = std::span<const experiment::Trial>;

/// True if two trials belong to one repetition of one group, whose splits are measured under the same settings.
bool same_round(const experiment::Trial& left, const experiment::Trial& right) {
  return left.repetition == right.repetition && left.model == right.model && left.archive == right.archive &&
         left.network == right.network && left.threads_per_stage == right.threads_per_stage &&
         left.batch == right.batch && left.micro_batch == right.micro_batch && left.depth == right.depth &&
         left.server == right.server;
}

bool same_model(const experiment::Trial& left, const experiment::Trial& right) {
  return left.model == right.model && left.archive == right.archive;
}

/// The trials at the front of `rest` that are alike according to `same`.
template <class Same>
Trials take_while(Trials rest, Same same) {
  const auto end =
      std::find_if(rest.begin(), rest.end(), [&](const auto& trial) { return !same(rest.front(), trial); });
  return rest.first(static_cast<std::size_t>(end - rest.begin()));
}

std::size_t count_models(Trials plan) {
  std::size_t models = 0;
  for (; !plan.empty(); ++models) plan = plan.subspan(take_while(plan, same_model).size());
  return models;
}

using Deadline = std::optional<Clock::time_point>;
using Now = std::function<Clock::time_point()>;

/// The deadline of the next of `models` models, which share the time from `now` until `end` equally.
Deadline share_of(Deadline end, std::size_t models, Clock::time_point now) {
  if (!end) return std::nullopt;
  return now + std::max(*end - now, Clock::duration::zero()) / static_cast<int>(models);
}

/// The known results of a group's splits.
struct Group {
  std::vector<record::TrialRecord> records;
  Verdicts verdicts;

  Verdict verdict_of(const experiment::Trial& trial) const {
    const auto found = verdicts.find(trial.cut());
    return found == verdicts.end() ? Verdict::open : found->second;
  }

  /// A verdict needs only summaries; raw samples of all repetitions would fill a small device's memory.
  void keep(record::TrialRecord record) {
    record.single_stream.reset();
    record.offline.reset();
    record.server.reset();
    records.push_back(std::move(record));
  }
};

/// All rounds of one model's groups, which take turns.
class ModelRounds {
 public:
  ModelRounds(std::span<const record::TrialRecord> known, Sweep& sweep, const experiment::Repeat& repeat,
              const Now& now)
      : known_(known), sweep_(sweep), repeat_(repeat), now_(now) {}

  void run(Trials model, Deadline deadline) {
    while (!model.empty() && !(deadline && now_() >= *deadline)) {
      const auto round = take_while(model, same_round);
      auto& group = groups_[round.front().group_id()];
      run_round(round, group);
      group.verdicts = judge_round(group.records, repeat_.precision, round.front().seed);
      model = model.subspan(round.size());
    }
  }

  void count(Trials model, AdaptiveOutcome& outcome) {
    const int first = model.front().repetition;
    for (const auto& trial : model) {
      if (trial.repetition != first) continue;
      const auto verdict = groups_[trial.group_id()].verdict_of(trial);
      ++(verdict == Verdict::settled     ? outcome.settled
         : verdict == Verdict::dominated ? outcome.dominated
                                         : outcome.open);
    }
    outcome.trials += trials_run_;
    outcome.planned += static_cast<int>(model.size());
  }

 private:
  void run_round(Trials round, Group& group) {
    for (const auto& trial : round) {
      if (group.verdict_of(trial) != Verdict::open) continue;
      const auto earlier = std::find_if(known_.begin(), known_.end(), [&](const auto& record) {
        return record.status == record::Status::ok && record.trial == trial;
      });
      if (earlier != known_.end()) {
        group.keep(*earlier);
      } else {
        group.keep(sweep_.run(trial));
        ++trials_run_;
      }
    }
  }

  std::span<const record::TrialRecord> known_;
  Sweep& sweep_;
  const experiment::Repeat& repeat_;
  const Now& now_;
  std::map<std::string, Group> groups_;  ///< by experiment::Trial::group_id()
  int trials_run_ = 0;
};

}  // namespace

AdaptiveOutcome run_adaptive_sweep(const std::vector<experiment::Trial>& plan,
                                   std::span<const record::TrialRecord> known, Sweep& sweep,
                                   const experiment::Repeat& repeat, const Now& now) {
  Deadline end;
  if (repeat.budget_s > 0) end = now() + std::chrono::seconds(repeat.budget_s);
  AdaptiveOutcome outcome;
  Trials rest(plan);
  for (auto models = count_models(rest); models > 0; --models) {
    const auto model = take_while(rest, same_model);
    ModelRounds rounds(known, sweep, repeat, now);
    rounds.run(model, share_of(end, models, now()));
    rounds.count(model, outcome);
    rest = rest.subspan(model.size());
  }
  return outcome;
}

}  // namespace paretopipe::run
