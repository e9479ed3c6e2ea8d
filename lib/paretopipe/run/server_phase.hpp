#pragma once
#include <paretopipe/experiment/trial.hpp>
#include <paretopipe/run/finish_record.hpp>
#include <paretopipe/stage/messages.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace paretopipe::run {

/// Finds the highest rate of requests that keeps a bound, by trying: brackets it, then halves the bracket in ratio.
/// Rates double as long as they keep the bound. If the first one misses it, they halve, down to an eighth of the first.
/// The search ends when the lowest rate that missed is at most kResolution above the highest that kept, when the eighth
/// missed too, or after kMostRates. Pure: it knows only the outcomes.
class MaxRateSearch {
 public:
  static constexpr double kResolution = 0.05;
  static constexpr int kMostRates = 16;

  /// `first`: more than 0, likely to be near the answer.
  explicit MaxRateSearch(double first) : lowest_(first / 8), next_(first) {}

  /// The next rate to try; none when the search is over.
  std::optional<double> next() const { return next_; }

  /// The outcome at next(), which must not be none.
  void tried(bool kept);

 private:
  double lowest_;
  std::optional<double> next_;
  std::optional<double> kept_;
  std::optional<double> missed_;
  int tried_ = 0;
};

/// Runs one request per participating stage and returns their reports, source first.
using RunStages = std::function<std::vector<stage::RunReport>(const std::vector<stage::Run>&)>;

/// Runs the Server phases that the trial asks for, and adds their evidence to that of its other phases. That is one
/// phase at the trial's rate, or those of a search for the highest rate that keeps its bound, which begins at half the
/// throughput of the Offline phase. `requests` are those of the other phases. Each rate is a run of its own, by a call
/// of `run`; nothing is loaded or restarted. Once an output differs from the unsplit model's, no further rate is tried.
///
/// Does nothing for a trial without a Server phase and for one whose output is wrong already. Throws what `run` throws.
void run_server_phases(const experiment::Trial& trial, const std::vector<stage::Run>& requests, const RunStages& run,
                       TrialEvidence& evidence);

}  // namespace paretopipe::run
