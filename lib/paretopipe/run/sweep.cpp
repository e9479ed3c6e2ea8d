#include <paretopipe/run/sweep.hpp>

#include <algorithm>
#include <set>

namespace paretopipe::run {

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

SweepCounts run_sweep(const std::vector<plan::Trial>& trials, TrialExecutor& executor,
                      const std::function<void(const record::TrialRecord&)>& keep, const SweepObserver& observer) {
  SweepCounts counts;
  for (const auto& trial : trials) {
    observer.starting(trial);
    const auto record = executor.run(trial);
    keep(record);
    ++(record.status == record::Status::ok ? counts.ok : counts.failed);
    observer.finished(record);
  }
  return counts;
}

}  // namespace paretopipe::run
