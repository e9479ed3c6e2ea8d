#include <paretopipe/run/adaptive_sweep.hpp>
#include <paretopipe/run/round_verdict.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

namespace paretopipe::run {
namespace {

using Trials = std::span<const plan::Trial>;

bool same_group(const plan::Trial& left, const plan::Trial& right) {
  return left.model == right.model && left.archive == right.archive && left.network == right.network &&
         left.threads_per_stage == right.threads_per_stage && left.batch == right.batch &&
         left.micro_batch == right.micro_batch && left.depth == right.depth && left.server == right.server;
}

/// The trials at the front of `rest` that are alike in the eyes of `same`.
template <class Same>
Trials take_while(Trials rest, Same same) {
  const auto end =
      std::find_if(rest.begin(), rest.end(), [&](const auto& trial) { return !same(rest.front(), trial); });
  return rest.first(static_cast<std::size_t>(end - rest.begin()));
}

std::size_t count_groups(Trials plan) {
  std::size_t groups = 0;
  for (; !plan.empty(); ++groups) plan = plan.subspan(take_while(plan, same_group).size());
  return groups;
}

using Deadline = std::optional<Clock::time_point>;
using Now = std::function<Clock::time_point()>;

/// What is left from `now` until `end`, shared out equally among `groups`.
Deadline share_of(Deadline end, std::size_t groups, Clock::time_point now) {
  if (!end) return std::nullopt;
  return now + std::max(*end - now, Clock::duration::zero()) / static_cast<int>(groups);
}

/// All rounds of one group.
class GroupRounds {
 public:
  GroupRounds(std::span<const record::TrialRecord> known, Sweep& sweep, const config::Repeat& repeat, const Now& now)
      : known_(known), sweep_(sweep), repeat_(repeat), now_(now) {}

  void run(Trials group, Deadline deadline) {
    while (!group.empty() && !(deadline && now_() >= *deadline)) {
      const auto round =
          take_while(group, [](const auto& left, const auto& right) { return left.repetition == right.repetition; });
      run_round(round);
      verdicts_ = judge_round(records_, repeat_.precision, round.front().seed);
      group = group.subspan(round.size());
    }
  }

  void count(Trials group, AdaptiveOutcome& outcome) const {
    for (const auto& trial :
         take_while(group, [](const auto&left, const auto&right) { return left.repetition == right.repetition; })) {
      const auto verdict = verdict_of(trial);
      ++(verdict == Verdict::settled     ? outcome.settled
         : verdict == Verdict::dominated ? outcome.dominated
                                         : outcome.open);
    }
    outcome.trials += trials_run_;
    outcome.planned += static_cast<int>(group.size());
  }

 private:
  Verdict verdict_of(const plan::Trial& trial) const {
    const auto found = verdicts_.find(trial.split_points);
    return found == verdicts_.end() ? Verdict::open : found->second;
  }

  void run_round(Trials round) {
    for (const auto& trial : round) {
      if (verdict_of(trial) != Verdict::open) continue;
      const auto earlier = std::find_if(known_.begin(), known_.end(), [&](const auto& record) {
        return record.status == record::Status::ok && record.trial == trial;
      });
      if (earlier != known_.end()) {
        keep(*earlier);
      } else {
        keep(sweep_.run(trial));
        ++trials_run_;
      }
    }
  }

  /// A verdict needs summaries only; raw samples of all repetitions would fill a small device's memory.
  void keep(record::TrialRecord record) {
    record.single_stream.reset();
    record.offline.reset();
    record.server.reset();
    records_.push_back(std::move(record));
  }

  std::span<const record::TrialRecord> known_;
  Sweep& sweep_;
  const config::Repeat& repeat_;
  const Now& now_;
  std::vector<record::TrialRecord> records_;
  Verdicts verdicts_;
  int trials_run_ = 0;
};

}  // namespace

AdaptiveOutcome run_adaptive_sweep(const std::vector<plan::Trial>& plan, std::span<const record::TrialRecord> known,
                                   Sweep& sweep, const config::Repeat& repeat, const Now& now) {
  Deadline end;
  if (repeat.budget_s > 0) end = now() + std::chrono::seconds(repeat.budget_s);
  AdaptiveOutcome outcome;
  Trials rest(plan);
  for (auto groups = count_groups(rest); groups > 0; --groups) {
    const auto group = take_while(rest, same_group);
    GroupRounds rounds(known, sweep, repeat, now);
    rounds.run(group, share_of(end, groups, now()));
    rounds.count(group, outcome);
    rest = rest.subspan(group.size());
  }
  return outcome;
}

}  // namespace paretopipe::run
