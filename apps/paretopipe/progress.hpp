#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/run/sweep.hpp>

#include <cstddef>

namespace paretopipe::cli {

/// Shows the progress of a sweep with the time left, on one line of stderr, if stderr is a terminal. Writes only
/// between trials.
class Progress {
 public:
  /// The display counts `already_done` trials, the estimate does not. In an adaptive sweep `remaining` is only an upper
  /// limit, and nothing is estimated from it.
  Progress(std::size_t remaining, std::size_t already_done, bool adaptive);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Must not outlive this object.
  run::SweepObserver observer();

  /// Clears the line. Happens by itself when an error ends the sweep.
  void finish();

 private:
  void starting(const plan::Trial& trial);
  void finished(const record::TrialRecord& record);
  void repeating(const record::TrialRecord& record);

  bool terminal_;
  bool shown_ = false;
  std::size_t remaining_;
  std::size_t already_done_;
  bool adaptive_;
  std::size_t completed_ = 0;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace paretopipe::cli
