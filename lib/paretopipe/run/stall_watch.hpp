#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/run/stage_client.hpp>
#include <paretopipe/run/stall.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace paretopipe::run {

/// Watches stages whose replies are awaited: asks them where they are, at most one question at a time, and ends the
/// wait for those that hang.
///
/// Silence, and the time since a reply, is counted in looks, not by the clock: a driver that was itself stopped for an
/// hour does not take the stages for silent.
class StallWatch {
 public:
  StallWatch(const std::vector<StageClient*>& stages, const WaitLimits& limits);

  /// When to call `look` if nothing has come until then.
  Clock::time_point next_look() const { return next_look_; }

  /// Judges what is known, and asks the stages that are still waited for again. Throws StageError for those that hang
  /// and, at the deadline, for those that are late. The latter are asked once more before, so that the error can name
  /// them.
  void look(const std::vector<StageClient*>& waiting);

 private:
  void listen(const std::vector<StageClient*>& waiting);
  void feel_pulse(const std::vector<StageClient*>& waiting);
  void ask(const std::vector<StageClient*>& waiting);
  void tell_of_slow_ones();
  void hear_last_words();
  [[noreturn]] void end_wait(const std::vector<Accusation>& accusations) const;
  StageSight& sight_of(const StageClient& stage);
  const StageClient& client_of(int stage) const;

  const std::vector<StageClient*> stages_;
  const WaitLimits limits_;
  std::vector<StageSight> sights_;                         ///< one for each of `stages_`
  std::vector<std::int64_t> cpu_when_asked_ns_;            ///< likewise
  std::vector<std::optional<std::size_t>> signs_of_life_;  ///< likewise, at the last look
  std::set<int> told_of_;                                  ///< slow stages
  Clock::time_point next_look_;
  std::optional<Clock::time_point> last_words_until_;
};

}  // namespace paretopipe::run
