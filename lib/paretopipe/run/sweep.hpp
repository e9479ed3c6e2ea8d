#pragma once
#include <paretopipe/run/slow_windows.hpp>
#include <paretopipe/run/trial_executor.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace paretopipe::run {

/// What became of a sweep's trials. A trial that was measured again counts once, by its last record.
struct SweepCounts {
  int ok = 0;
  int failed = 0;         ///< without a result, or invalid
  int repeated = 0;       ///< measurements that fell into a slow window and were made again
  int disturbed = 0;      ///< ok ones that fell into a slow window and were believed all the same
  int settled_late = 0;   ///< ok ones whose warm-up was lengthened
  int with_outliers = 0;  ///< ok ones that hold outliers
  int slowed_down = 0;    ///< ok ones in which a stage became slower, and stayed so
  int saturated = 0;      ///< ok ones that did not keep up with the rate of their Server phase
  int without_rate = 0;   ///< ok ones that searched a rate, and kept their latency bound at none
};

/// How often a sweep measures again what fell into a slow window, before it believes it.
struct Repeats {
  int per_trial = 2;
  double share = 0.2;  ///< of the sweep's trials in all (at least `per_trial`): a machine that is always busy ends too
};

/// Told between trials, never during one: what a person sees must not disturb what is measured.
struct SweepObserver {
  std::function<void(const plan::Trial&)> starting = [](const plan::Trial&) {};
  std::function<void(const record::TrialRecord&)> finished = [](const record::TrialRecord&) {};
  std::function<void(const record::TrialRecord&)> repeating = [](const record::TrialRecord&) {};
};

/// The trials that are still to be run: those of the plan without an ok record. Failed ones are tried again.
std::vector<plan::Trial> remaining_trials(const std::vector<plan::Trial>& plan,
                                          const std::vector<record::TrialRecord>& records);

/// The records of `records` whose partner, measured side by side with it, is among `others`.
std::vector<record::TrialRecord> with_partner(std::vector<record::TrialRecord> records,
                                              const std::vector<record::TrialRecord>& others);

/// What measures trials, and where its records go. The executor must outlive the sweep.
struct SweepSide {
  TrialExecutor& executor;
  std::function<void(const record::TrialRecord&)> keep;
};

/// Runs trials one by one, in the order in which they are asked for.
class Sweep {
 public:
  using Keep = std::function<void(const record::TrialRecord&)>;

  /// `trials`: how many are expected.
  Sweep(TrialExecutor& executor, Keep keep, SweepObserver observer, std::size_t trials, Repeats repeats = {});

  /// Every trial is run on each of `sides`, one after the other, so that what the machine does meanwhile happens to all
  /// of them alike. Which one begins changes from repetition to repetition.
  Sweep(std::vector<SweepSide> sides, SweepObserver observer, std::size_t trials, Repeats repeats = {});

  /// Every record goes to `keep` as soon as its trial ends; a failed trial is a record like any other. One that fell
  /// into a slow window is kept as invalid and measured again, on all sides, as often as `Repeats` allows. Returns the
  /// last record of the first side. Throws what an executor or `keep` throws; what was kept until then stays kept.
  record::TrialRecord run(const plan::Trial& trial);

  const SweepCounts& counts() const { return counts_; }

 private:
  /// A record that counts, and whether something disturbed it.
  struct Turn {
    std::size_t side;
    record::TrialRecord record;
    bool disturbed;
  };
  std::vector<Turn> run_turns(const plan::Trial& trial, bool may_repeat);
  void count(const record::TrialRecord& record, bool disturbed);

  std::vector<SweepSide> sides_;
  SweepObserver observer_;
  int repeats_per_trial_;
  int repeats_left_;
  SlowWindows slow_windows_;
  SweepCounts counts_;
};

}  // namespace paretopipe::run
