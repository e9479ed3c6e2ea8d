#pragma once
#include <paretopipe/record/record.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace paretopipe::run {

/// Detects trials that fell into a slow window of a shared machine, by the probes and CPU times around each trial
/// (host::CpuConditions). It never judges by the trial's measurements: that would select results.
///
/// The probe of each core is compared with the fastest one of it in the sweep. A machine that stays slow is not
/// compared with its past for ever: `accept` makes the speed of a trial that is kept anyway the new standard.
class SlowWindows {
 public:
  /// The reasons to measure the record's trial again, in sentences; empty if there are none. Only ok records are
  /// judged.
  std::vector<std::string> judge(const record::TrialRecord& record);

  void accept(const record::TrialRecord& record);

 private:
  /// The fastest probe of each core, by the core's boot ID and CPU list.
  std::map<std::string, std::int64_t> fastest_probe_ns_;
};

/// Runs one trial. The sweep knows nothing else of how trials run, so its order, resume and fault handling can be
/// tested without a process.
class TrialExecutor {
 public:
  virtual ~TrialExecutor() = default;

  /// The record of a success or a failure. A failure concerns only this trial: the next call starts afresh. Throws
  /// Interrupted, and EnvironmentError for causes that would make every further trial fail too.
  virtual record::TrialRecord run(const experiment::Trial& trial) = 0;

  /// Called when another executor runs the next trial: releases what only one of them can hold at a time.
  virtual void make_room() {}
};

/// The outcomes of a sweep's trials. A trial that was measured again counts once, by its last record.
struct SweepCounts {
  int ok = 0;
  int failed = 0;         ///< no result, or invalid
  int repeated = 0;       ///< measurements in a slow window that were repeated
  int disturbed = 0;      ///< ok trials in a slow window that were accepted anyway
  int settled_late = 0;   ///< ok trials whose warm-up was lengthened
  int with_outliers = 0;  ///< ok trials with outliers
  int slowed_down = 0;    ///< ok trials in which a stage became slower for good
  int saturated = 0;      ///< ok trials that did not keep up with the rate of their Server phase
  int without_rate = 0;   ///< ok trials whose rate search found no rate within the latency bound
};

/// How often a sweep repeats measurements in a slow window before it accepts them.
struct Repeats {
  int per_trial = 2;
  double share = 0.2;  ///< of all the sweep's trials (at least `per_trial`), so that a sweep on a busy machine ends
};

/// Called between trials, never during one: what a person sees must not disturb what is measured.
struct SweepObserver {
  std::function<void(const experiment::Trial&)> starting = [](const experiment::Trial&) {};
  std::function<void(const record::TrialRecord&)> finished = [](const record::TrialRecord&) {};
  std::function<void(const record::TrialRecord&)> repeating = [](const record::TrialRecord&) {};
};

/// The plan's trials without an ok record, which are still to be run. Failed ones are tried again.
std::vector<experiment::Trial> remaining_trials(const std::vector<experiment::Trial>& plan,
                                                const std::vector<record::TrialRecord>& records);

/// The records of `records` whose partner, measured side by side with it, is among `others`.
std::vector<record::TrialRecord> with_partner(std::vector<record::TrialRecord> records,
                                              const std::vector<record::TrialRecord>& others);

/// An executor that measures trials, and the place of its records. The executor must outlive the sweep.
struct SweepSide {
  TrialExecutor& executor;
  std::function<void(const record::TrialRecord&)> keep;
};

/// Runs trials one by one, in the order in which they are asked for.
class Sweep {
 public:
  using Keep = std::function<void(const record::TrialRecord&)>;

  /// `trials`: the expected number.
  Sweep(TrialExecutor& executor, Keep keep, SweepObserver observer, std::size_t trials, Repeats repeats = {});

  /// Runs every trial on each of `sides`, one after the other, so that changes of the machine affect all alike. The
  /// side that begins changes from repetition to repetition.
  Sweep(std::vector<SweepSide> sides, SweepObserver observer, std::size_t trials, Repeats repeats = {});

  /// Passes every record to `keep` as soon as its trial ends; a failed trial is a record like any other. A trial in a
  /// slow window is kept as invalid and measured again, on all sides, as often as `Repeats` allows. Returns the last
  /// record of the first side. Throws what an executor or `keep` throws; earlier records stay kept.
  record::TrialRecord run(const experiment::Trial& trial);

  const SweepCounts& counts() const { return counts_; }

 private:
  /// A record that counts, and whether something disturbed it.
  struct Turn {
    std::size_t side;
    record::TrialRecord record;
    bool disturbed;
  };
  std::vector<Turn> run_turns(const experiment::Trial& trial, bool may_repeat);
  void count(const record::TrialRecord& record, bool disturbed);

  std::vector<SweepSide> sides_;
  SweepObserver observer_;
  int repeats_per_trial_;
  int repeats_left_;
  SlowWindows slow_windows_;
  SweepCounts counts_;
};

}  // namespace paretopipe::run
