#include <paretopipe/analysis/stats/disturbances.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/run/finish_record.hpp>
#include <paretopipe/run/sweep.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

/// A trial on a core that was slower by this factor is not comparable with the others.
constexpr double kSlow = 1.15;

std::string core_of(const record::StageReport& stage) {
  return stage.host.boot_id + " " + stage.cpus;
}

/// The faster of the two probes. A change during the trial is a disturbance that is found otherwise.
std::int64_t probe_ns(const record::StageReport& stage) {
  return std::min(stage.conditions->probe_before_ns, stage.conditions->probe_after_ns);
}

}  // namespace

std::vector<std::string> SlowWindows::judge(const record::TrialRecord& record) {
  if (record.status != record::Status::ok) return {};
  auto reasons = stats::disturbances(record);
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    const auto& stage = record.stages[i];
    if (!stage.conditions || stats::held_to_quota(stage)) continue;
    const auto probe = probe_ns(stage);
    auto& fastest = fastest_probe_ns_.try_emplace(core_of(stage), probe).first->second;
    fastest = std::min(fastest, probe);
    const double slowdown = static_cast<double>(probe) / static_cast<double>(fastest);
    if (slowdown > kSlow) {
      reasons.push_back(
          fmt::format("stage {}'s core was {:.0f} % slower than it has been in this sweep", i, 100 * (slowdown - 1)));
    }
  }
  return reasons;
}

void SlowWindows::accept(const record::TrialRecord& record) {
  for (const auto& stage : record.stages) {
    if (stage.conditions && !stats::held_to_quota(stage)) fastest_probe_ns_[core_of(stage)] = probe_ns(stage);
  }
}

namespace {

int allowed_repeats(const Repeats& repeats, std::size_t trials) {
  return std::max(repeats.per_trial, static_cast<int>(repeats.share * static_cast<double>(trials)));
}

/// 16 random hexadecimal digits.
std::string new_pair() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

/// The side whose turn it is. Each side begins every other repetition of a configuration, and about half of the
/// configurations in a repetition, so no side gains from being first or second.
std::size_t side_of(const experiment::Trial& trial, std::size_t turn, std::size_t sides) {
  const auto first = fnv1a64(trial.configuration_id()) + static_cast<std::uint64_t>(trial.repetition);
  return static_cast<std::size_t>((first + turn) % sides);
}

}  // namespace

std::vector<record::TrialRecord> with_partner(std::vector<record::TrialRecord> records,
                                              const std::vector<record::TrialRecord>& others) {
  std::map<std::string, const record::TrialRecord*> pairs;
  for (const auto& other : others) {
    if (other.status == record::Status::ok && other.provenance.side_by_side) {
      pairs.emplace(other.provenance.side_by_side->pair, &other);
    }
  }
  std::erase_if(records, [&](const record::TrialRecord& record) {
    if (!record.provenance.side_by_side) return true;
    const auto found = pairs.find(record.provenance.side_by_side->pair);
    return found == pairs.end() || !record::side_by_side(record, *found->second);
  });
  return records;
}

std::vector<experiment::Trial> remaining_trials(const std::vector<experiment::Trial>& plan,
                                                const std::vector<record::TrialRecord>& records) {
  std::set<std::string> done;
  for (const auto& record : records) {
    if (record.status == record::Status::ok) done.insert(record.trial.id());
  }
  std::vector<experiment::Trial> remaining;
  std::copy_if(plan.begin(), plan.end(), std::back_inserter(remaining),
               [&](const experiment::Trial& trial) { return !done.contains(trial.id()); });
  return remaining;
}

Sweep::Sweep(TrialExecutor& executor, Keep keep, SweepObserver observer, std::size_t trials, Repeats repeats)
    : Sweep({{executor, std::move(keep)}}, std::move(observer), trials, repeats) {}

Sweep::Sweep(std::vector<SweepSide> sides, SweepObserver observer, std::size_t trials, Repeats repeats)
    : sides_(std::move(sides)),
      observer_(std::move(observer)),
      repeats_per_trial_(repeats.per_trial),
      repeats_left_(allowed_repeats(repeats, trials)) {}

record::TrialRecord Sweep::run(const experiment::Trial& trial) {
  observer_.starting(trial);
  for (int repeats = 0;; ++repeats) {
    auto turns = run_turns(trial, repeats < repeats_per_trial_);
    if (turns.empty()) continue;
    for (const auto& turn : turns) {
      count(turn.record, turn.disturbed);
      observer_.finished(turn.record);
    }
    return std::move(std::find_if(turns.begin(), turns.end(), [](const Turn& turn) { return turn.side == 0; })->record);
  }
}

/// Returns nothing if one of the records is to be repeated, because a record without its partner cannot be compared.
std::vector<Sweep::Turn> Sweep::run_turns(const experiment::Trial& trial, bool may_repeat) {
  const auto pair = sides_.size() > 1 ? new_pair() : std::string();
  std::vector<Turn> turns;
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const auto place = side_of(trial, i, sides_.size());
    auto& side = sides_[place];
    auto record = side.executor.run(trial);
    if (sides_.size() > 1) {
      record.provenance.side_by_side = record::SideBySide{pair, static_cast<int>(i)};
      side.executor.make_room();
    }
    const auto reasons = slow_windows_.judge(record);
    const bool again = !reasons.empty() && may_repeat && repeats_left_ > 0;
    if (again) record = set_aside(std::move(record), reasons);
    side.keep(record);
    if (again) {
      --repeats_left_;
      ++counts_.repeated;
      observer_.repeating(record);
      return {};
    }
    if (!reasons.empty()) slow_windows_.accept(record);
    turns.push_back({place, std::move(record), !reasons.empty()});
  }
  return turns;
}

void Sweep::count(const record::TrialRecord& record, bool disturbed) {
  if (record.status != record::Status::ok) {
    ++counts_.failed;
    return;
  }
  ++counts_.ok;
  const auto lengthened = [&](const auto& samples) { return samples && samples->warmup > record.trial.warmup; };
  if (disturbed) ++counts_.disturbed;
  if (lengthened(record.single_stream) || lengthened(record.offline)) ++counts_.settled_late;
  if (record.outliers) ++counts_.with_outliers;
  if (!record.slow_downs.empty()) ++counts_.slowed_down;
  if (!record.server) return;
  const auto& [runs, max_rate] = *record.server;
  if (max_rate ? !max_rate->kept_image_per_s : runs.front().summary.saturated) {
    ++(max_rate ? counts_.without_rate : counts_.saturated);
  }
}

}  // namespace paretopipe::run
