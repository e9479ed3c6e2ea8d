#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/run/sweep.hpp>

#include <cstddef>

namespace paretopipe::cli {

/// One line on stderr that follows a sweep, with the time left, when stderr is a terminal; nothing otherwise. Written
/// between trials only.
class Progress {
 public:
  /// `already_done` trials are counted in the display but not in the estimate.
  Progress(std::size_t remaining, std::size_t already_done);

  /// Must not outlive this object.
  run::SweepObserver observer();

  /// Clears the line.
  void finish();

 private:
  void starting(const plan::Trial& trial);
  void finished(const record::TrialRecord& record);

  bool terminal_;
  std::size_t remaining_;
  std::size_t already_done_;
  std::size_t completed_ = 0;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace paretopipe::cli
