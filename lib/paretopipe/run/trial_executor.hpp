#pragma once
#include <paretopipe/record/record.hpp>

namespace paretopipe::run {

/// Runs one trial. The sweep knows nothing else of how trials run, so its order, resume and fault handling can be
/// tested without a process.
class TrialExecutor {
 public:
  virtual ~TrialExecutor() = default;

  /// The record of a success or a failure. A failure concerns only this trial: the next call starts afresh. Throws
  /// Interrupted, and EnvironmentError for causes that would make every further trial fail too.
  virtual record::TrialRecord run(const plan::Trial& trial) = 0;

  /// Another executor runs a trial next: releases what only one of them can have at a time.
  virtual void make_room() {}
};

}  // namespace paretopipe::run
