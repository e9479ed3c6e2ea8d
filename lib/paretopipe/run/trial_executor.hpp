#pragma once
#include <paretopipe/record/record.hpp>

namespace paretopipe::run {

/// Runs one trial. The sweep knows no more of how trials are run, so that its order, resume and fault handling can be
/// tested without a process.
class TrialExecutor {
 public:
  virtual ~TrialExecutor() = default;

  /// The record, of a success or of a failure. A failure concerns this trial only: the next call starts afresh. Throws
  /// Interrupted, and EnvironmentError for what would make every further trial fail too.
  virtual record::TrialRecord run(const plan::Trial& trial) = 0;

  /// Another executor runs a trial next: gives up what only one of them can have at a time.
  virtual void make_room() {}
};

}  // namespace paretopipe::run
