#pragma once
#include <paretopipe/run/trial_executor.hpp>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace paretopipe::run {

struct SweepCounts {
  int ok = 0;
  int failed = 0;
};

/// Told between trials, never during one: what a person sees must not disturb what is measured.
struct SweepObserver {
  std::function<void(const plan::Trial&)> starting = [](const plan::Trial&) {};
  std::function<void(const record::TrialRecord&)> finished = [](const record::TrialRecord&) {};
};

/// The trials that are still to be run: those of the plan without an ok record. Failed ones are tried again.
std::vector<plan::Trial> remaining_trials(const std::vector<plan::Trial>& plan,
                                          const std::vector<record::TrialRecord>& records);

/// Runs the trials in their order. Every record goes to `keep` as soon as its trial ends; a failed trial is a record
/// like any other and the sweep goes on. Throws what the executor or `keep` throws; what was kept until then stays
/// kept.
SweepCounts run_sweep(const std::vector<plan::Trial>& trials, TrialExecutor& executor,
                      const std::function<void(const record::TrialRecord&)>& keep, const SweepObserver& observer);

}  // namespace paretopipe::run
