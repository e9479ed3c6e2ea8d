#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/run/sweep.hpp>

#include <cstddef>

namespace paretopipe::cli {

/// One line on stderr that follows a sweep, with the time left, when stderr is a terminal; nothing otherwise. Written
/// between trials only.
class Progress {
 public:
  /// `already_done` trials are counted in the display but not in the estimate. Of an adaptive sweep `remaining` is only
  /// the most that there may be, and nothing is estimated from it.
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
