#include <paretopipe/run/sweep.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::run {
namespace {

/// The measurement stays readable, with the reason why it does not count.
record::TrialRecord not_believed(record::TrialRecord record, const std::vector<std::string>& reasons) {
  record.status = record::Status::invalid;
  record.failure = record::Failure{"conditions", std::nullopt,
                                   fmt::format("measured in a slow window, and again: {}", fmt::join(reasons, "; "))};
  return record;
}

int allowed_repeats(const Repeats& repeats, std::size_t trials) {
  return std::max(repeats.per_trial, static_cast<int>(repeats.share * static_cast<double>(trials)));
}

}  // namespace

std::vector<plan::Trial> remaining_trials(const std::vector<plan::Trial>& plan,
                                          const std::vector<record::TrialRecord>& records) {
  std::set<std::string> done;
  for (const auto& record : records) {
    if (record.status == record::Status::ok) done.insert(record.trial.id());
  }
  std::vector<plan::Trial> remaining;
  std::copy_if(plan.begin(), plan.end(), std::back_inserter(remaining),
               [&](const plan::Trial& trial) { return !done.contains(trial.id()); });
  return remaining;
}

Sweep::Sweep(TrialExecutor& executor, Keep keep, SweepObserver observer, std::size_t trials, Repeats repeats)
    : executor_(executor),
      keep_(std::move(keep)),
      observer_(std::move(observer)),
      repeats_per_trial_(repeats.per_trial),
      repeats_left_(allowed_repeats(repeats, trials)) {}

record::TrialRecord Sweep::run(const plan::Trial& trial) {
  observer_.starting(trial);
  for (int repeats = 0;; ++repeats) {
    auto record = executor_.run(trial);
    const auto reasons = slow_windows_.judge(record);
    const bool again = !reasons.empty() && repeats < repeats_per_trial_ && repeats_left_ > 0;
    if (again) record = not_believed(std::move(record), reasons);
    keep_(record);
    if (again) {
      --repeats_left_;
      ++counts_.repeated;
      observer_.repeating(record);
      continue;
    }
    if (!reasons.empty()) slow_windows_.believe(record);
    count(record, !reasons.empty());
    observer_.finished(record);
    return record;
  }
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
